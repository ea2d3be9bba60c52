"""What a slot does: take a job, do it, bring what it gave when asking for the next."""

from __future__ import annotations

import gc
import signal
import threading
from typing import Any

import ray
import torch
from ray import cloudpickle

from setsweep.data.arrays import from_arrays
from setsweep.sweeps.execution.answers import Done
from setsweep.sweeps.execution.datasets import DatasetCache, base_key, data_of
from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.job_runner import JobRunner
from setsweep.sweeps.execution.slots.exchange import Line
from setsweep.sweeps.execution.slots.messages import GiveBack, Parcel, Place, Take, Tell, Watch
from setsweep.trainables.checkpoint import Interrupted
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.warm_up import warm_up


class SlotWorkload:
    """See above. It ends early, with what it trains kept in its checkpoint, when the driver or SIGTERM asks for it.

    Args:
        exchange: by which it reaches the driver.
        slot: its number.
    """

    def __init__(self, exchange: str, slot: int) -> None:
        self._exchange, self._slot, self._place = exchange, slot, _place()
        self._line = Line(exchange)
        self._recalled = threading.Event()
        self._handles: dict[str, bytes] = {}
        self._runner = JobRunner(
            DatasetCache(self._load_base), lambda moments: self._line.tell(Tell([*moments])), self._recalled.is_set
        )

    def warm_up(self) -> None:
        """Imports and the first optimiser, before the first job."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: self._recalled.set())
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        warm_up()

    def run(self) -> None:
        """Job after job, until there will be no more."""
        outcomes: list[Outcome] = []
        while not isinstance(answer := self._line.ask(Take(self._slot, self._place, outcomes)), Done):
            try:
                outcomes = self._do(answer)
            except Interrupted:
                self._line.ask(GiveBack(self._slot))
                return

    def _do(self, parcel: Parcel) -> list[Outcome]:
        if self._recalled.is_set():
            raise Interrupted
        self._handles |= parcel.data or {}
        outcomes = self._runner.run(parcel.job)
        if any(isinstance(each, RunResult) and each.cause == "memory" for each in outcomes):
            _free_memory()
        return outcomes

    def _watch(self) -> None:
        """Wait to be told to go; where the driver has gone there is nothing to wait for."""
        try:
            Line(self._exchange).ask(Watch(self._slot))
        except (ray.exceptions.RayError, ValueError):
            return
        self._recalled.set()

    def _load_base(self, job: Job) -> Any:
        handle = self._handles[str(base_key(data_of(job.configs[0])))]
        return from_arrays(ray.get(cloudpickle.loads(handle)))


def _place() -> Place:
    """Where this process is; it shares its memory with those that Ray has given the same GPUs, if any."""
    context = ray.get_runtime_context()
    node = context.get_node_id()
    return Place(node, "/".join([node, *context.get_accelerator_ids().get("GPU", [])]))


def _free_memory() -> None:
    """Give back what a failed run has left on the GPU, before other slots try."""
    gc.collect()
    torch.cuda.empty_cache()
