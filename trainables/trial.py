"""A run as the trial of somebody's own Tuner: settings by path come in, a report comes out after every evaluation.

Knows nothing of Ray: `trainables.ray_trainable` hands it on to Tune.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from setsweep.data import base_settings, load_base, load_dataset
from setsweep.data.dataset import Dataset
from setsweep.trainables.checkpoint import load_checkpoint, save_checkpoint
from setsweep.trainables.config.complete import complete_config, with_values
from setsweep.trainables.config.run_config import SECTIONS, RunConfig
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.metric import TRAIN_LOSS, all_metrics
from setsweep.trainables.loop import CHECKPOINT_FORMAT
from setsweep.trainables.run import Run

FILE = "run.pt"
KEY = f"between evaluations/{CHECKPOINT_FORMAT}"
_NESTED = ("data", "model", "loss", "training", *(f"training.{name}" for name in SECTIONS))


class Trial:
    """Runs of one base configuration, one after the other; what they share of their data is loaded once.

    The test split is not looked at unless the base says ``test: true``, since who compares trials must not see it.

    Args:
        base: nested plain data, see `complete_config`; need not be complete.
        root: where the data files lie (see `data.load_dataset`).
    """

    def __init__(self, base: Mapping[str, Any], root: Path | None) -> None:
        self._base, self._root = {"test": False, **base}, root
        self._shared: tuple[dict[str, Any], Dataset] | None = None
        self._run: Run | None = None

    def begin(self, values: Mapping[str, Any]) -> None:
        """Make a run of the base with these values, by path or nested, put in; nothing is left of an earlier run.

        Raises:
            ConfigError, ValueError, data.files.DataError: see `complete_config` and `trainables.loop.train`.
        """
        self._run = None  # its memory is free before the next run asks for some
        config = complete_config(with_values(self._base, dict(_by_path(values))))
        self._run = Run(config, dataset=self._dataset(config))

    def step(self) -> dict[str, Any]:
        """Train to the next evaluation; what there is to report of it, see `report`."""
        run = self._current
        run.to_next_evaluation()
        return {"epoch": run.epoch, "done": run.over, **report(run.history, over=run.over)}

    def save(self, folder: Path) -> None:
        """Write the whole state of the run into a folder."""
        save_checkpoint({"key": KEY, **self._current.state()}, folder / FILE)

    def load(self, folder: Path) -> None:
        """Go on from a state written by `save`, also by a run of other settings, see `check_continuation`.

        Raises:
            ConfigError: it can't go on from there.
            ValueError: there is no checkpoint of this version.
        """
        state = load_checkpoint(folder / FILE, key=KEY)
        if state is None:
            raise ValueError(f"checkpoint must be one of this version of setsweep, got {str(folder / FILE)!r}.")
        self._current.restore(state)

    @property
    def _current(self) -> Run:
        assert self._run is not None, "begin comes first"
        return self._run

    def _dataset(self, config: RunConfig) -> Dataset:
        base = base_settings(config.data)
        if base is None:
            return load_dataset(config.data, seed=config.seed)
        if self._shared is None or self._shared[0] != base:
            self._shared = None
            self._shared = base, load_base(config.data, root=self._root)
        return load_dataset(config.data, seed=config.seed, base=self._shared[1])


def report(history: History, *, over: bool) -> dict[str, Any]:
    """What a search is told of a run after an evaluation, metrics under the names of records.

    They are those of this evaluation, which a search may act on. When the run is over they are its result, as `train`
    gives it: each at its best epoch (`training.keep`), and of the same epochs ``test/...`` where it was tested. A run
    that has diverged has accuracies and set sizes of 0 and an infinite training loss, whatever it had before: no number
    is NaN, and none that a search could want.

    Args:
        history: of the run.
        over: whether the run is.
    """
    if history.reason is not None:
        val = [metric.on("val").name for metric in all_metrics(history.config.k)]
        worst = {**dict.fromkeys(val, 0.0), TRAIN_LOSS.name: math.inf}
        return {**worst, "status": "diverged", "reason": history.reason}
    if over:
        return {**history.final_metrics(), "status": "done"}
    return {**{name: values[-1] for name, values in history.curves.items()}, "status": "training"}


def _by_path(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Values by dotted path, those of a section given as a mapping too; NumPy's numbers as Python's."""
    for name, value in values.items():
        if f"{path}{name}" in _NESTED and isinstance(value, Mapping):
            yield from _by_path(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value.item() if isinstance(value, np.generic) else value
