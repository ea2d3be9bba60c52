"""What a slot does: take a job, do it, bring what it gave when asking for the next."""

from __future__ import annotations

import gc
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
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
from setsweep.sweeps.execution.slots.messages import GiveBack, Hello, Needs, Parcel, Place, Take, Tell, Unseen, Watch
from setsweep.trainables.checkpoint import Interrupted
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.places import AnyPath
from setsweep.trainables.warm_up import warm_up

SEEN_SECONDS = 10.0  # until a file that was written elsewhere shows, on file systems that remember what was not there


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
        self._prepare(self._line.ask(Hello()))
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
        while outcomes or not self._recalled.is_set():
            answer = self._line.ask(Take(self._slot, self._place, outcomes))
            if isinstance(answer, Done):
                return
            try:
                outcomes = self._do(answer)
            except Interrupted:
                self._line.ask(GiveBack(self._slot))
                return

    def _prepare(self, needs: Needs) -> None:
        """Have the user's modules imported from a folder of this process, and look whether the storage is there."""
        if needs.files:
            self._modules = tempfile.TemporaryDirectory(prefix="setsweep-modules-")
            for name, content in needs.files.items():
                file = Path(self._modules.name) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            sys.path.insert(0, self._modules.name)
        deadline = time.monotonic() + SEEN_SECONDS
        while needs.seen is not None and not _sees(needs.seen):
            if time.monotonic() > deadline:
                self._line.ask(Unseen(socket.gethostname()))
                self._recalled.set()
                return
            time.sleep(0.5)

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


def _sees(file: AnyPath) -> bool:
    """Whether a file is seen here; an object store that can't be reached, or lets nobody in, is not."""
    try:
        return file.exists()
    except (OSError, ImportError):
        return False


def _place() -> Place:
    """Where this process is; it shares its memory with those that Ray has given the same GPUs, if any."""
    context = ray.get_runtime_context()
    node = context.get_node_id()
    return Place(node, "/".join([node, *context.get_accelerator_ids().get("GPU", [])]))


def _free_memory() -> None:
    """Give back what a failed run has left on the GPU, before other slots try."""
    gc.collect()
    torch.cuda.empty_cache()
