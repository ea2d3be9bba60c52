"""Slots that follow the cluster: one Ray Tune run whose trials are the slots, added and withdrawn while it goes on.

Tune asks a searcher for trials and starts those that it is given; here the searcher gives one whenever there is work
for another slot. A trial that has no place yet is a placement group that waits, which is what an autoscaler acts on.
Nothing of Tune's is needed to go on after a crash: which runs are left follows from the journal, and a run that was cut
short is resumed from its checkpoint.
"""

from __future__ import annotations

import functools
import itertools
import math
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from ray import cloudpickle, tune
from ray.exceptions import ActorUnavailableError
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler
from ray.tune.search import Searcher

from setsweep.sweeps.execution import cluster
from setsweep.sweeps.execution.slots.claims import Claim, FairPart, Standing
from setsweep.sweeps.execution.slots.fair_parts import Want
from setsweep.sweeps.execution.slots.mailbox import Mailbox
from setsweep.sweeps.execution.slots.workload import SlotWorkload
from setsweep.trainables.ray_trainable import Slot

LOOK_SECONDS = 1.0  # between two looks at the cluster
WITHDRAW_SECONDS = 2.0  # for which a slot that has no place must be too many
IDLE_POLL_SECONDS = 0.1  # while there is no slot
MOST_FAILURES = 3  # of Tune itself, one after the other
MOST_TRIALS = 100_000  # at a time; Tune wants a number
SHOWN = 4000  # characters of the last traceback of a slot


class TuneSlots:
    """Keeps as many slots as there is work and room for.

    Args:
        mailbox: what they work for.
        exchange: by which they reach it.
        cpus, gpus: what one slot occupies.
        most: slots that are of use.
        max_slots: to ask for, of a cluster that grows when it is asked; None: as many as it has room for, or says that
            it could have.
        idle_seconds: after which a slot for which there is nothing to do is given up.
        standing: beside other drivers that use the cluster; None: there are none.

    Attributes:
        trials: Tune's names of the slots, those included that have no place yet.
        placed: how many of them have a place.
        numbers: of slots that are to come.
        closed: whether there will be no more.
        error: what has ended Tune, if anything has.
        lost_in_a_row: how many slots have died by themselves since this was set to 0.
        last_traceback: of those.
    """

    def __init__(
        self,
        mailbox: Mailbox,
        exchange: str,
        *,
        cpus: float,
        gpus: float,
        most: int | None = None,
        max_slots: int | None = None,
        idle_seconds: float = math.inf,
        standing: Standing | None = None,
    ) -> None:
        self._mailbox, self._exchange, self._cpus, self._gpus = mailbox, exchange, cpus, gpus
        self._most, self._max_slots, self._idle_seconds = most, max_slots, idle_seconds
        self._standing, self._part = standing, FairPart() if standing else None
        self._nodes = cluster.look(cpus=cpus, gpus=gpus)
        self._looked = -math.inf
        self.closed = False
        self.trials: set[str] = set()
        self.placed = 0
        self.numbers = itertools.count()
        self.error: BaseException | None = None
        self.lost_in_a_row, self.last_traceback = 0, ""
        self._given_up = _GivenUp()
        self._folder = tempfile.TemporaryDirectory(prefix="setsweep-tune-")
        self._tune = threading.Thread(target=self._run, name="ray-tune", daemon=True)
        self._tune.start()

    @property
    def there(self) -> int:
        """How many slots the cluster has room for, of those that are of use."""
        there = min(self._nodes.slots, self.limit)
        return there if self._part is None else int(min(there, self._part.held))

    @property
    def limit(self) -> int:
        """How many slots to have at most, if there is work for them."""
        asked = self._max_slots or max(1, self._nodes.slots, self._nodes.could_be)
        return min(asked, self._most or asked)

    @property
    def too_many(self) -> int:
        """By how many there are more than there is work for, those included that have no place yet; below 0 there are
        too few. Until the first job has come all are wanted: a slot takes as long to start as data take to load.
        """
        asked = math.inf if self._part is None else self._part.asked
        return len(self.trials) - int(min(self._work, asked))

    @property
    def _work(self) -> int:
        """How many slots are of use now."""
        load = self._mailbox.load
        return min(self.limit, load.training + load.waiting + load.resting) if load.begun else self.limit

    @property
    def alive(self) -> bool:
        """Whether there are any, or will be."""
        return self._tune.is_alive()

    def look(self) -> None:
        """Look at the cluster now and then: slots on nodes that leave are recalled, idle ones are sent home."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._nodes = cluster.look(cpus=self._cpus, gpus=self._gpus)
            self._looked = time.monotonic()
            self._mailbox.recall(self._mailbox.on_nodes(self._nodes.leaving))
            self._share()
        self._mailbox.send_idle_home(self._idle_seconds)

    def _share(self) -> None:
        """Take no more than a fair part of a cluster that others use too. Idle slots count as wanted, for a moment:
        between two batches of a search.
        """
        if self._part is None or self._standing is None:
            return
        want = Want(
            cpus=self._cpus,
            gpus=self._gpus,
            slots=max(self._work, self.placed),
            share=self._standing.share,
            priority=self._standing.priority,
        )
        growth = max(0, self.limit - self._nodes.slots)
        self._part.look(Claim(want=want, holds=self.placed), self._nodes.machines, growth=growth)
        self._mailbox.bound(self._part.held)

    def lost(self, slot: int, error: BaseException | None, traceback: str) -> None:
        """A slot has died: by itself, perhaps of its job, or with its node, which shows some seconds later. Until then
        Ray knows only that it can't be reached.
        """
        node = self._mailbox.node_of(slot)
        self._nodes = cluster.look(cpus=self._cpus, gpus=self._gpus)
        with_its_node = node in self._nodes.leaving or (node is not None and node not in self._nodes.alive)
        self._mailbox.lost(slot, blame=not with_its_node and not isinstance(error, ActorUnavailableError))
        if not with_its_node:
            self.lost_in_a_row += 1
            self.last_traceback = traceback[-SHOWN:]

    def close(self, seconds: float) -> None:
        """Wait for slots that the mailbox has sent home; end those that are still there after so many seconds.

        Waits for Tune's thread, 20 s at most: one that used Ray when the cluster is gone would end the process.
        """
        self.closed = True
        self._tune.join(timeout=seconds)
        self._given_up.now = True
        self._tune.join(timeout=20)
        if self._part is not None:
            self._part.leave()
        self._folder.cleanup()

    def _run(self) -> None:
        """Run after run of Tune, each as long as there are slots: Tune with none would stand still, and hold places.

        One that fails, as when the cluster's head does not answer for a moment, is followed by another all the same.
        """
        failures = 0
        for number in itertools.count():
            while not self.closed and self.too_many >= 0:
                time.sleep(IDLE_POLL_SECONDS)
                self.look()
            if self.closed:
                return
            try:
                self._run_tune(f"slots-{number}")
                failures = 0
            except Exception as error:  # noqa: BLE001 - handed to the thread that waits for results
                failures += 1
                if failures > MOST_FAILURES:
                    self.error = error
                    return
                time.sleep(LOOK_SECONDS)
            self.trials.clear()
            self.placed = 0
            self._mailbox.all_lost()

    def _run_tune(self, name: str) -> None:
        tuner = tune.Tuner(
            tune.with_resources(Slot, {"cpu": self._cpus, "gpu": self._gpus}),
            param_space={
                "workload": functools.partial(SlotWorkload, self._exchange),
                "threads": max(1, int(self._cpus)),
                "gpus": self._gpus,
            },
            tune_config=tune.TuneConfig(
                search_alg=_WantedSlots(self),
                scheduler=_SlotKeeper(self),
                max_concurrent_trials=MOST_TRIALS,
                num_samples=-1,
            ),
            run_config=tune.RunConfig(
                name=name,
                storage_path=self._folder.name,
                stop=self._given_up,
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),  # a slot has no state worth keeping
                verbose=0,
            ),
        )
        tuner.fit()


class _GivenUp(tune.Stopper):
    """Ends Tune, which asks at every step: slots that go on training are ended after some seconds."""

    def __init__(self) -> None:
        self.now = False

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Whether one slot should stop: not before all do."""
        return False

    def stop_all(self) -> bool:
        """Whether all should."""
        return self.now


class _WantedSlots(Searcher):
    """Gives Tune a trial whenever a slot is wanted."""

    def __init__(self, slots: TuneSlots) -> None:
        super().__init__()
        self._slots = slots

    def suggest(self, trial_id: str) -> dict[str, Any] | None:
        """The configuration of another slot; None: not now."""
        self._slots.look()
        if self._slots.closed or self._slots.too_many >= 0:
            return None if self._slots.trials else Searcher.FINISHED  # type: ignore[return-value]  # as Ray says it
        self._slots.trials.add(trial_id)
        return {"slot": next(self._slots.numbers)}

    def on_trial_complete(self, trial_id: str, result: Any = None, error: bool = False) -> None:
        """A slot has ended, in whatever way."""
        self._slots.trials.discard(trial_id)

    def save(self, checkpoint_path: str) -> None:
        """There is nothing to save."""

    def __getstate__(self) -> dict[str, Any]:
        return {}


class _SlotKeeper(FIFOScheduler):
    """Withdraws slots that are not wanted any more and have no place yet, and tells of those that have died.

    A scheduler, not a callback, because Tune counts callbacks by kind and imports all of MLflow to do so, which costs
    0.6 seconds of CPU just when the workers start.
    """

    def __init__(self, slots: TuneSlots) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Ray has no annotation here
        self._slots = slots
        self._too_many_since: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Tune saves its scheduler with the experiment; there is nothing to save, and the mailbox can't be."""
        return {}

    def choose_trial_to_run(self, tune_controller: Any) -> None:
        """Called at every step of Tune's, which starts all that wait by itself."""
        trials = tune_controller.get_live_trials()
        waiting = [trial for trial in trials if trial.status == Trial.PENDING]
        self._slots.placed = len(trials) - len(waiting)
        too_many = self._slots.too_many
        if too_many <= 0:
            self._too_many_since = None
            return
        self._too_many_since = self._too_many_since or time.monotonic()
        if time.monotonic() - self._too_many_since >= WITHDRAW_SECONDS:
            for trial in sorted(waiting, key=lambda trial: trial.config["slot"])[-too_many:]:
                tune_controller.stop_trial(trial)

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        """A trial's actor has died."""
        traceback = Path(trial.error_file).read_text() if trial.error_file else ""
        error = cloudpickle.loads(Path(trial.pickled_error_file).read_bytes()) if trial.pickled_error_file else None
        self._slots.lost(trial.config["slot"], error, traceback)
