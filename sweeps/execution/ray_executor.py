"""The executor on a Ray cluster: Ray Tune places slots, a mailbox actor hands them jobs, the object store holds data.

Nothing of Tune's is needed to go on after a crash: which runs are left follows from the journal, and a run that was
cut short is resumed from its checkpoint.
"""

from __future__ import annotations

import functools
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import ray
from ray import tune

from data.arrays import from_arrays, to_arrays
from sweeps import cluster
from sweeps.execution.datasets import DatasetCache, base_key, load_base_of
from sweeps.execution.executor import Job
from sweeps.execution.mailbox import Mailbox
from trainables.attempt import failed
from trainables.ray_trainable import Slot
from trainables.run_config import RunResult
from trainables.warm_up import warm_up

POLL_SECONDS = 10.0
MOST_CALLS = 10_000  # slots and drivers that may be waiting at the mailbox at once
MOST_LOST = 8  # deaths of a slot without a result of any slot in between


class RayExecutor:
    """Trains jobs on the slots of the connected cluster (`sweeps.cluster.connect`).

    Args:
        cpus, gpus: what one run occupies.
        max_attempts: how often a run is started when its worker dies.
        most: more slots than this are of no use.
    """

    def __init__(self, *, cpus: float = 1, gpus: float = 0, max_attempts: int = 3, most: int | None = None) -> None:
        self._slots = min(cluster.slots(cpus=cpus, gpus=gpus), most or 1_000_000)
        self._warm = [_warm_worker.options(num_cpus=cpus, num_gpus=gpus).remote() for _ in range(self._slots)]
        actor = ray.remote(Mailbox).options(
            num_cpus=0, max_restarts=-1, max_task_retries=-1, max_concurrency=MOST_CALLS
        )
        self._mailbox: Any = actor.remote(max_attempts)
        self._outstanding: dict[str, Job] = {}
        self._data: dict[str, Any] = {}
        self._early: list[RunResult] = []
        self._lost = _LostSlots(self._mailbox)
        self._tune_error: BaseException | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="setsweep-tune-")
        self._tune = threading.Thread(target=self._run_tune, args=(cpus, gpus), name="ray-tune", daemon=True)
        self._tune.start()

    @property
    def slots(self) -> int:
        """How many jobs train at once."""
        return self._slots

    def submit(self, job: Job) -> None:
        """Queue a job; its data goes into the object store the first time it is needed."""
        self._outstanding[job.config.key] = job
        try:
            parcel = (job, self._shared_data(job))
        except Exception as error:  # noqa: BLE001 - data that can't be read fails the run, not the sweep
            reason = f"{type(error).__name__}: {error}"
            self._early.append(failed(job.config, reason, started=time.time(), attempts=1))
            return
        self._mailbox.post.remote([parcel])

    def wait(self, timeout: float) -> list[RunResult]:
        """The results that have come; each job's once."""
        self._check_alive()
        arrived, self._early = self._early, []
        if not arrived:
            try:
                arrived = ray.get(self._mailbox.collect.remote(timeout), timeout=timeout + 60)
            except (
                ray.exceptions.ActorDiedError,
                ray.exceptions.ActorUnavailableError,
                ray.exceptions.GetTimeoutError,
            ):
                self._post_again()
        if arrived:
            self._lost.in_a_row = 0
        return [result for result in arrived if self._outstanding.pop(result.key, None) is not None]

    def close(self) -> None:
        """Send the slots home; give up what they train if they don't go at once."""
        idle = not self._outstanding
        self._mailbox.close.remote()
        self._tune.join(timeout=10 if idle else 0)
        ray.kill(self._mailbox)
        self._folder.cleanup()

    def _check_alive(self) -> None:
        """Slots that die again and again with nothing to show for it are a broken installation, not bad luck."""
        if self._tune_error is not None:
            raise RuntimeError(f"Ray Tune stopped: {self._tune_error}") from self._tune_error
        if self._lost.in_a_row > MOST_LOST * self._slots:
            raise RuntimeError(
                f"slots must stay alive, {self._lost.in_a_row} died without a result: {self._lost.error}"
            )

    def _post_again(self) -> None:
        """The mailbox was lost with what it held, and is there again, empty: the outstanding jobs go in anew."""
        parcels = [(job, self._shared_data(job)) for job in self._outstanding.values()]
        self._mailbox.post.remote(parcels)

    def _shared_data(self, job: Job) -> list[Any]:
        key = base_key(job.config.data)
        if key is None:
            return []
        if key not in self._data:
            self._data[key] = ray.put(to_arrays(load_base_of(job)))
        return [self._data[key]]  # in a list, so that Ray hands on the reference and not the data

    def _run_tune(self, cpus: float, gpus: float) -> None:
        workload: Callable[[int], _SlotWorkload] = functools.partial(_SlotWorkload, self._mailbox)
        tuner = tune.Tuner(
            tune.with_resources(Slot, {"cpu": cpus, "gpu": gpus}),
            param_space={
                "slot": tune.grid_search(list(range(self._slots))),
                "workload": workload,
                "threads": max(1, int(cpus)),
            },
            tune_config=tune.TuneConfig(max_concurrent_trials=self._slots),
            run_config=tune.RunConfig(
                name="slots",
                storage_path=self._folder.name,
                callbacks=[self._lost],
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),  # a slot has no state worth keeping
                failure_config=tune.FailureConfig(max_failures=-1),
                verbose=0,
            ),
        )
        try:
            tuner.fit()
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for results
            self._tune_error = error


@ray.remote
def _warm_worker() -> None:
    """Imports in a worker process while Tune starts; Ray then makes the slot's actor of that same process."""
    warm_up()


class _SlotWorkload:
    """What a slot does: take a job, train it, bring the result when asking for the next."""

    def __init__(self, mailbox: Any, slot: int) -> None:
        self._mailbox, self._slot = mailbox, slot
        self._handles: dict[str, Any] = {}
        self._datasets = DatasetCache(self._load_base)

    def warm_up(self) -> None:
        """Imports and the first optimiser, before the first job."""
        warm_up()

    def run(self) -> None:
        """Run after run, until there will be no more."""
        parcel: Any = True
        result = None
        while parcel:
            parcel = ray.get(self._mailbox.take.remote(self._slot, result, POLL_SECONDS))
            result = None if parcel is True or parcel is False else self._train(*parcel)

    def _train(self, job: Job, data: list[Any]) -> RunResult:
        if (key := base_key(job.config.data)) is not None:
            self._handles[key] = data[0]
        return self._datasets.run(job)

    def _load_base(self, job: Job) -> Any:
        key = base_key(job.config.data)
        assert key is not None
        return from_arrays(ray.get(self._handles[key]))


class _LostSlots(tune.Callback):
    """Tells the mailbox when a slot's worker has died, so that another slot can take its job."""

    def __init__(self, mailbox: Any) -> None:
        self._mailbox = mailbox
        self.in_a_row = 0
        self.error = ""

    def on_trial_recover(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self.in_a_row += 1
        self.error = str(trial.get_pickled_error() or "")
        self._mailbox.lost.remote(trial.config["slot"])
