"""A run that is trained from one evaluation to the next, for those who decide in between: Ray's Tuner, for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from setsweep.data.dataset import Dataset
from setsweep.data.seeding import derived_seed
from setsweep.trainables.checkpoint import Saver
from setsweep.trainables.config.continuation import check_continuation
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import find_device, product_precision, random_state, seeded, set_random_state
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.seed_group import SeedGroup
from setsweep.trainables.settings.problems import ConfigError, Problem


class Run:
    """A run that is trained from one evaluation to the next; in between it can be saved, and go on from what was saved.

    Whatever happens in between, it gives the numbers of `train`, and leaves PyTorch's global generators as they were.

    Args:
        config, dataset: see `train`.

    Raises:
        ValueError: see `train`.
    """

    def __init__(self, config: RunConfig, *, dataset: Dataset) -> None:
        self.config, self._device = config, find_device(config.training.device)
        with seeded(derived_seed(config.seed, "model"), self._device), product_precision(config.training.precision):
            self._group = SeedGroup([config], [dataset], [None], self._device)
            self._random = random_state(self._device)

    @property
    def history(self) -> History:
        """What was measured so far."""
        return self._group.histories[0]

    @property
    def epoch(self) -> int:
        """How many epochs are finished."""
        return self._group.epoch

    @property
    def over(self) -> bool:
        """Whether it is trained to the end, has diverged, or has run out of patience."""
        return not self._group.more

    def to_next_evaluation(self) -> None:
        """Train until the history has one more evaluation, or the run is over; if it is, test it where it asks for it.

        The last weights stay in place when others are tested: with more epochs, the run could go on.
        """
        nothing_to_save = Saver(None, 0.0, "")
        evaluated = len(self.history.epochs)
        with self._turn():
            while self._group.more and len(self.history.epochs) == evaluated:
                self._group.advance(nothing_to_save, None)
            if self.over and self._group.test:
                last = self._group.learner.weights(0)
                self._group.finish(nothing_to_save, None)
                self._group.learner.load_weights([last])

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Within it PyTorch's global generators and the precision of products are those of the run."""
        with seeded(0, self._device), product_precision(self.config.training.precision):
            set_random_state(self._random, self._device)
            yield
            self._random = random_state(self._device)

    def state(self) -> dict[str, Any]:
        """All that the rest of the run depends on, for a checkpoint: the tensors themselves, which training changes."""
        with self._turn():
            return {"device": self._device.type, "config": self.config.to_dict(), **self._group.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state, which may be that of another configuration as far as `check_continuation` allows.

        Raises:
            ConfigError: it does not; or the state is of another kind of device, whose generators differ.
        """
        check_continuation(state["config"], self.config)
        if state["device"] != self._device.type:
            rule = f"must be {state['device']}, as in the checkpoint, got {self._device.type!r}."
            raise ConfigError([Problem("training.device", rule)])
        with self._turn():
            self._group.restore(state)
