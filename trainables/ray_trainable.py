"""The thin Ray Tune adaptor: for our sweeps a slot of the cluster, for other people's Tuners a trainable.

In our sweeps one Tune trial is one slot, which trains run after run. A trial per run would cost an actor's start (about
2 s) or, with reused actors, Tune's bookkeeping between trials (about 0.2 s) for every run. A slot pays once and keeps
its imports, its data and its warm optimiser; Tune still places it on the cluster's resources and starts it again when
its worker dies.

In a Tuner of your own one Tune trial is one run, and your scheduler and searcher decide: see `trainable`.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import torch
from ray import tune

if TYPE_CHECKING:
    from setsweep.trainables.trial import Trial


class Workload(Protocol):
    """What a slot does."""

    def warm_up(self) -> None:
        """Pay now for what the first run would else pay for."""
        ...

    def run(self) -> None:
        """Train until there is nothing left to train."""
        ...


class Slot(tune.Trainable):
    """A place where run after run is trained.

    The trial's config holds `workload`, which makes the `Workload` of a slot from the slot's number `slot`; `threads`,
    the CPU threads of a run; and `gpus`, what it has of a GPU: a slot that has nothing of one sees none, which Ray does
    not see to.
    """

    def setup(self, config: dict[str, Any]) -> None:
        """Called by Tune in the slot's process."""
        _settle(threads=config["threads"], gpus=config["gpus"])
        self._workload: Workload = config["workload"](config["slot"])
        self._workload.warm_up()

    def step(self) -> dict[str, Any]:
        """Called by Tune once: the slot's whole life is one step."""
        self._workload.run()
        return {"done": True}


def trainable(base_config: Mapping[str, Any], *, root: str | Path | None = None) -> type[tune.Trainable]:
    """A Ray Tune trainable of which one trial is one run, for a Tuner of your own.

    The keys of its `param_space` are the paths of studies: ``loss.alpha``, ``training.optimizer.lr``, ``model.hidden``,
    ``data.label_noise``, ``k``, ``seed``. Values that are not legal are told when a trial is set up, by a ConfigError,
    which is a ValueError. One step is one evaluation, so that `training_iteration` counts those; what a step reports is
    said at `trainables.trial.report`. Checkpoints hold the whole state of the run: on a CPU, with the same number of
    threads, a run that was paused ends bit-identical to one that was not. In population-based training a run goes on
    from the checkpoint of another one, whose configuration may differ in all that does not have to stay
    (`trainables.config.continuation`). Actors can be reused.

    It is a class and not a function, since Tune can pause, perturb and reset functions only by starting them anew.

    Args:
        base_config: what all trials share, nested plain data as in a configuration file (see `complete_config`); with
            ``test: true``, and not without, a run that is trained to its end is tested.
        root: where the data files lie (see `data.load_dataset`).
    """
    where = None if root is None else Path(root).absolute()  # trials have working folders of their own
    given = {"base": copy.deepcopy(dict(base_config)), "root": where}
    # Tune names trials and folders after the class
    return type("setsweep", (_TuneTrial,), {"__doc__": "A trial is a run of setsweep.", **given})


class _TuneTrial(tune.Trainable):
    """See `trainable`, whose classes say what `base` and `root` are."""

    base: ClassVar[Mapping[str, Any]]
    root: ClassVar[Path | None]

    def setup(self, config: dict[str, Any]) -> None:
        """Called by Tune in the trial's process."""
        from setsweep.trainables.memory import keep_freed_memory
        from setsweep.trainables.trial import Trial

        if self.trial_resources is not None:
            first = self.trial_resources.bundles[0]
            _settle(threads=max(1, int(first.get("CPU", 1))), gpus=first.get("GPU", 0))
        keep_freed_memory()
        self._trial: Trial = Trial(self.base, self.root)
        self._trial.begin(config)

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Called by Tune where an actor is reused."""
        self._trial.begin(new_config)
        return True

    def step(self) -> dict[str, Any]:
        """Called by Tune for every evaluation."""
        return self._trial.step()

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        """Called by Tune between steps."""
        self._trial.save(Path(checkpoint_dir))

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Called by Tune after `setup` or `reset_config`, with a folder."""
        self._trial.load(Path(checkpoint))


def _settle(*, threads: int, gpus: float) -> None:
    """Take up what Tune has given this process: so many threads, and no GPU where it has nothing of one."""
    torch.set_num_threads(threads)
    if not gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # in time: nothing in this process has asked for a GPU yet
