"""Where the runs of a study are trained: in this process, on this machine, or on a cluster."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import Executor
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.seed_groups import first_candidate
from setsweep.sweeps.records.remote.working_copy import origin
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.own_files import own_files

Say = Callable[[str], None]

IDLE_SECONDS = 5.0  # about what a slot takes to start: it is kept as long as it would cost to have it again


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where runs are trained.

    Args:
        address: a Ray cluster to join, or "auto"; None: that of RAY_ADDRESS, else one on this machine for the sweep.
        in_process: no cluster: one run after the other in this process.
    """

    address: str | None = None
    in_process: bool = False

    @property
    def here(self) -> bool:
        """Whether it is this machine."""
        return self.in_process or not (self.address or os.environ.get("RAY_ADDRESS"))


@contextmanager
def opened(
    where: Where, study: Study, planner: Planner, datasets: DatasetCache, say: Say, folder: Path | None = None
) -> Iterator[Executor]:
    """An executor for what is left of a study, closed at the end.

    Args:
        where: see `Where`.
        study, planner: what is left.
        datasets: shared data that are loaded already.
        say: told what a user should know.
        folder: of the study, which all nodes must see.

    Raises:
        sweeps.execution.cluster.ClusterError: there is no such cluster, or a run does not fit on it.
    """
    if where.in_process:
        _check_cpus(study.resources.cpus)
        from setsweep.sweeps.execution.local_executor import LocalExecutor

        whole = study.resources.gpus == "auto" and torch.cuda.is_available()  # one run after the other has all of it
        gpus = 1.0 if whole else 0.0 if study.resources.gpus == "auto" else study.resources.gpus
        with closing(LocalExecutor(cpus=study.resources.cpus, gpus=gpus, datasets=datasets)) as local:
            yield local
        return
    from setsweep.sweeps.execution import cluster

    with cluster.joined(where.address):
        from setsweep.sweeps.execution.ray_executor import RayExecutor
        from setsweep.sweeps.execution.slots.claims import Standing

        asked = study.resources.gpus
        gpus = _measured_share(study, planner, say) if asked == "auto" else asked
        if where.here:
            cluster.check_room(cpus=study.resources.cpus, gpus=gpus)
        executor = RayExecutor(
            cpus=study.resources.cpus,
            gpus=gpus,
            most=planner.total - planner.done,
            max_slots=study.resources.max_slots,
            idle_seconds=math.inf if where.here else IDLE_SECONDS,  # on this machine nobody else waits for them
            standing=None if where.here else Standing(share=study.resources.share, priority=study.resources.priority),
            datasets=datasets,
            files={} if where.here else own_files(study),
            storage=None if where.here or folder is None else (origin(folder) or folder),
        )
        with closing(executor):
            yield executor


def _check_cpus(cpus: float) -> None:
    """Raise ValueError for a run that wants more CPUs, each for a thread, than this machine has."""
    there = os.cpu_count() or 1
    if cpus > there:
        raise ValueError(f"resources must fit on this machine, with {there} CPUs, got {cpus:g} CPUs a run.")


def _measured_share(study: Study, planner: Planner, say: Say) -> float:
    """What a run is given of a GPU of the cluster; 0 where there is none."""
    from setsweep.sweeps.execution import cluster

    if not cluster.has_gpus():
        say("There is no GPU: runs train on CPUs.")
        return 0.0
    say("How many runs share a GPU is measured as soon as one is free.")
    share = cluster.share_of_a_gpu(_measurement(study, planner))
    say(f"{round(1 / share)} runs share a GPU, as measured.")
    return share


def _measurement(study: Study, planner: Planner) -> Callable[[], int]:
    """How many jobs are best trained at once on a GPU, measured on the first configuration that is left."""
    from setsweep.trainables.probes.runs_per_gpu import runs_per_gpu

    example = [run.config for run in first_candidate([run for run, result in planner.runs() if result is None])]
    seeds = study.resources.seeds_per_worker
    return partial(runs_per_gpu, example, seeds=seeds, root=study.data_root, download=study.download)
