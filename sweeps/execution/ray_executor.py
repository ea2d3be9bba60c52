"""The executor on a Ray cluster: Ray Tune places slots, a mailbox hands them jobs, the object store holds the data.

Nothing of Tune's is needed to go on after a crash: which runs are left follows from the journal, and a run that was
cut short is resumed from its checkpoint.
"""

from __future__ import annotations

import functools
import gc
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
import torch
from ray import cloudpickle, tune
from ray.tune.schedulers import FIFOScheduler

from setsweep.data.arrays import from_arrays, to_arrays
from setsweep.sweeps.execution import cluster
from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.execution.datasets import DatasetCache, base_jobs, base_key, data_of
from setsweep.sweeps.execution.errors import ExecutorError
from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.job_runner import JobRunner
from setsweep.sweeps.execution.mailbox import Mailbox, Parcel, Worker, failures
from setsweep.sweeps.execution.mailbox_server import MailboxAddress, serve
from setsweep.sweeps.execution.news import Tell
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.ray_trainable import Slot
from setsweep.trainables.warm_up import warm_up

POLL_SECONDS = 10.0
SHOWN = 4000  # characters of the last traceback of a slot
MOST_LOST = 4  # deaths of a slot without a result of any slot in between; more than a deadly job causes


class RayExecutor:
    """Trains jobs on the slots of the connected cluster (`sweeps.execution.cluster.connect`).

    Args:
        cpus, gpus: what one run occupies.
        max_attempts: how often a run is started when its worker dies.
        most: more slots than this are of no use.
        datasets: shared data that are loaded already.
    """

    def __init__(
        self,
        *,
        cpus: float = 1,
        gpus: float = 0,
        max_attempts: int = 3,
        most: int | None = None,
        datasets: DatasetCache | None = None,
    ) -> None:
        self._slots = min(max(1, cluster.slots(cpus=cpus, gpus=gpus)), most or 1_000_000)
        self._gpus = gpus
        self._mailbox = Mailbox(max_attempts)
        self._address = serve(self._mailbox, cluster.driver_host())
        self._outstanding: set[str] = set()
        self._datasets = datasets or DatasetCache()
        self._data: dict[str, tuple[Any, bytes]] = {}
        self._lost = _LostSlots(self._mailbox)
        self._given_up = _GivenUp()
        self._tell: Tell | None = None
        self._tune_error: BaseException | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="setsweep-tune-")
        self._tune = threading.Thread(target=self._run_tune, args=(cpus, gpus), name="ray-tune", daemon=True)
        self._tune.start()

    @property
    def slots(self) -> int:
        """How many jobs train at once."""
        return self._slots - self._mailbox.resting

    @property
    def gpus(self) -> float:
        """What a job that trains has of a GPU."""
        return self._gpus

    def submit(self, job: Job) -> None:
        """Queue a job; its data goes into the object store the first time it is needed."""
        self._outstanding.update(job.outcome_keys)
        try:
            parcel = Parcel(job, self._shared_data(job))
        except Exception as error:  # noqa: BLE001 - data that can't be read fails the run, not the sweep
            self._mailbox.put(failures(job, f"{type(error).__name__}: {error}", started=time.time()))
            return
        self._mailbox.post(parcel)

    def wait(self, timeout: float) -> list[Outcome]:
        """The outcomes that have come; each once."""
        self._check_alive()
        arrived = self._mailbox.collect(timeout)
        if (news := self._mailbox.news()) and self._tell is not None:
            self._tell(news)
        if arrived:
            self._lost.in_a_row = 0
        new = [outcome for outcome in arrived if outcome.key in self._outstanding]
        self._outstanding.difference_update(outcome.key for outcome in new)
        return new

    def listen(self, tell: Tell) -> None:
        """Told whenever `wait` ends."""
        self._tell = tell

    def close(self) -> None:
        """Send the slots home; give up what they train if they don't go at once.

        Waits for Tune's thread, 20 s at most: one that used Ray when the cluster is gone would end the process.
        """
        idle = not self._outstanding
        self._mailbox.close()
        self._tune.join(timeout=10 if idle else 0)
        self._given_up.now = True
        self._tune.join(timeout=20)
        self._folder.cleanup()

    def _check_alive(self) -> None:
        """Slots that die again and again with nothing to show for it are a broken installation, not bad luck."""
        if self._tune_error is not None:
            raise ExecutorError(f"Ray Tune must go on, got: {self._tune_error}") from self._tune_error
        if self._outstanding and not self._tune.is_alive():
            raise ExecutorError(f"slots must stay to the end, all went with {len(self._outstanding)} results missing")
        if self._lost.in_a_row > MOST_LOST * self._slots:
            raise ExecutorError(
                f"slots must stay alive, {self._lost.in_a_row} died without a result: {self._lost.error}"
            )

    def _shared_data(self, job: Job) -> dict[str, bytes]:
        """Handles to the shared parts of the job's data, each of which is put into the object store once."""
        parts = base_jobs(job)
        for key, own in parts.items():
            if key not in self._data:
                reference = ray.put(to_arrays(self._datasets.take_base(own)))
                self._data[key] = (reference, _pickled(reference))  # holding the reference keeps the data
        return {key: self._data[key][1] for key in parts}

    def _run_tune(self, cpus: float, gpus: float) -> None:
        workload: Callable[[int], _SlotWorkload] = functools.partial(_SlotWorkload, self._address)
        tuner = tune.Tuner(
            tune.with_resources(Slot, {"cpu": cpus, "gpu": gpus}),
            param_space={
                "slot": tune.grid_search(list(range(self._slots))),
                "workload": workload,
                "threads": max(1, int(cpus)),
                "gpus": gpus,
            },
            tune_config=tune.TuneConfig(max_concurrent_trials=self._slots, scheduler=self._lost),
            run_config=tune.RunConfig(
                name="slots",
                storage_path=self._folder.name,
                stop=self._given_up,
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),  # a slot has no state worth keeping
                failure_config=tune.FailureConfig(max_failures=-1),
                verbose=0,
            ),
        )
        try:
            tuner.fit()
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for results
            self._tune_error = error


def _pickled(reference: Any) -> bytes:
    pickled: bytes = cloudpickle.dumps(reference)  # type: ignore[no-untyped-call]  # Ray has no annotation here
    return pickled


class _SlotWorkload:
    """What a slot does: take a job, do it, bring what it gave when asking for the next."""

    def __init__(self, address: MailboxAddress, slot: int) -> None:
        self._mailbox, self._slot, self._worker = address.connect(), slot, Worker(uuid.uuid4().hex, _memory())
        self._handles: dict[str, bytes] = {}
        self._runner = JobRunner(DatasetCache(self._load_base), self._mailbox.tell)

    def warm_up(self) -> None:
        """Imports and the first optimiser, before the first job."""
        warm_up()

    def run(self) -> None:
        """Job after job, until there will be no more."""
        outcomes: list[Outcome] = []
        while not isinstance(answer := self._mailbox.take(self._slot, self._worker, outcomes, POLL_SECONDS), Done):
            outcomes = [] if isinstance(answer, Wait) else self._do(answer)

    def _do(self, parcel: Parcel) -> list[Outcome]:
        self._handles |= parcel.data or {}
        outcomes = self._runner.run(parcel.job)
        if any(isinstance(each, RunResult) and each.cause == "memory" for each in outcomes):
            _free_memory()
        return outcomes

    def _load_base(self, job: Job) -> Any:
        handle = self._handles[str(base_key(data_of(job.configs[0])))]
        return from_arrays(ray.get(cloudpickle.loads(handle)))


def _memory() -> str:
    """Names the memory that this worker's runs fill: that of its node's GPUs that Ray has given it, if any."""
    context = ray.get_runtime_context()
    return "/".join([context.get_node_id(), *context.get_accelerator_ids().get("GPU", [])])


def _free_memory() -> None:
    """Give back what a failed run has left on the GPU, before other slots try."""
    gc.collect()
    torch.cuda.empty_cache()


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


class _LostSlots(FIFOScheduler):
    """Tells the mailbox when a slot's worker has died, so that another slot can take its job.

    A scheduler, not a callback, because Tune counts callbacks by kind and imports all of MLflow to do so, which costs
    0.6 seconds of CPU just when the workers start.
    """

    def __init__(self, mailbox: Mailbox) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # nor here
        self._mailbox = mailbox
        self.in_a_row = 0
        self.error = ""

    def __getstate__(self) -> dict[str, Any]:
        """Tune saves its scheduler with the experiment; there is nothing to save, and the mailbox can't be."""
        return {}

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """A trial's actor has died, and Tune will start it again."""
        self.in_a_row += 1
        deaths = Path(trial.error_file).read_text() if trial.error_file else ""
        self.error = deaths[-SHOWN:]
        self._mailbox.lost(trial.config["slot"])
