"""Joining a Ray cluster, or starting one on this machine for the time of the sweep."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
os.environ.setdefault("TUNE_PRINT_ALL_TRIAL_ERRORS", "0")  # a slot that was lost is no error: its run goes on

import ray  # reads the settings above when it is imported
from ray.tune.execution import class_cache
from ray.tune.progress_reporter import TrialProgressCallback

from setsweep.sweeps.execution.capacity import Machine, room
from setsweep.sweeps.execution.ray_token import guard_token

# Tune gives its actors a variable that is meant for PyTorch Lightning. An actor with variables of its own gets a
# process of its own, started when it is asked for; without, it gets one of the workers that wait, started and warm.
class_cache.DEFAULT_ENV_VARS.clear()
# A slot that is withdrawn before it had a place, or was lost, is nothing to tell of.
logging.getLogger("ray.tune.tune").setLevel(logging.CRITICAL)
setattr(TrialProgressCallback, "_print", lambda *_: None)  # noqa: B010 - it is a method

KNOCK_SECONDS = 5.0


class ClusterError(ValueError):
    """There is no cluster at that address, or it can't do what is asked; the message says what to do."""


@contextmanager
def joined(address: str | None) -> Iterator[None]:
    """Within it this process is connected to a cluster: to the one that it was connected to before, whose end is its
    caller's affair, or to one that is joined or started here, and left or ended here.

    Address and errors are those of `connect`.
    """
    if ray.is_initialized():
        yield
        return
    connect(address)
    try:
        yield
    finally:
        disconnect()


def connect(address: str | None, *, cpus: int | None = None) -> None:
    """Join the cluster at `address`, else at RAY_ADDRESS; without either, start one on this machine.

    Args:
        address: "auto", or the address of a head node.
        cpus: of the cluster on this machine; None: as many as it has.

    Raises:
        ClusterError: no cluster answers there, or none could be started here.
    """
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    address = address or os.environ.get("RAY_ADDRESS")
    if address is None:
        # The workers of our own cluster import what every slot needs while the cluster starts.
        preloaded = "setsweep.trainables.ray_trainable,setsweep.trainables.loop"
        os.environ.setdefault("RAY_preload_python_modules", preloaded)
        guard_token()
        # Ray's own default would join whatever cluster was started last on this machine, another sweep's perhaps.
        try:
            ray.init(address="local", include_dashboard=False, num_cpus=cpus, **options)
        except Exception as error:  # noqa: BLE001 - no other kind is raised where its processes do not come up in time
            disconnect()
            raise ClusterError(
                f"Ray could not be started on this machine, which may be too busy or short of memory: {error} "
                "The same command tries again; nothing was lost."
            ) from None
        return
    if address.startswith("ray://"):
        raise ClusterError(
            "--address must be that of a cluster of which this machine is a node (HOST:PORT or auto), got "
            f"{address!r}. 'setsweep submit STUDY --address http://HEAD:8265' runs a study on a cluster from outside."
        )
    try:
        _knock(address)
        ray.init(address=address, **options)
    except (OSError, ValueError, RuntimeError) as error:
        raise ClusterError(
            f"--address must be the address of a running Ray cluster, got {address!r}: {error}. "
            "Leave it out to run on this machine, or start a cluster with 'ray start --head'."
        ) from None


def _knock(address: str) -> None:
    """Whether somebody listens at host:port, where the address is one; Ray itself tries for minutes in silence."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_SECONDS).close()


def disconnect() -> None:
    """Leave the cluster; one that `connect` started ends."""
    ray.shutdown()


@dataclass(frozen=True)
class Nodes:
    """The nodes of the cluster at a moment.

    Args:
        machines: those that stay.
        slots: how many runs those can train at once; 0: none, as long as no node joins that fits one.
        could_be: how many runs it could train at once if it grew as far as its autoscaler says; 0 where none says it.
        alive: the nodes that are there.
        leaving: those of them that are being drained.
    """

    machines: tuple[Machine, ...]
    slots: int
    could_be: int
    alive: frozenset[str]
    leaving: frozenset[str]


def look(*, cpus: float, gpus: float) -> Nodes:
    """What is there for runs of this size."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]  # Ray has no annotation here
    alive = {node["NodeID"]: node["Resources"] for node in nodes if node["Alive"]}
    state = ray._private.state.state  # noqa: SLF001 - as Ray Train asks for it: there is no public way
    leaving = frozenset(state.get_draining_nodes()) & alive.keys()
    groups = getattr(state.get_cluster_config(), "node_group_configs", ())
    staying = (has for name, has in alive.items() if name not in leaving)
    machines = tuple(Machine(has.get("CPU", 0), has.get("GPU", 0)) for has in staying)
    return Nodes(
        machines=machines,
        slots=sum(room(machine.cpus, machine.gpus, cpus=cpus, gpus=gpus) for machine in machines),
        could_be=sum(
            room(group.resources["CPU"], group.resources["GPU"], cpus=cpus, gpus=gpus) * group.max_count
            for group in groups
        ),
        alive=frozenset(alive),
        leaving=leaving,
    )


def slots(*, cpus: float, gpus: float) -> int:
    """How many runs the cluster can train at once; 0: none, as long as no node joins that fits one."""
    return look(cpus=cpus, gpus=gpus).slots


def check_room(*, cpus: float, gpus: float) -> None:
    """Make sure that a run fits on a cluster that no node will join, on which it would wait for ever.

    Raises:
        ClusterError: it does not.
    """
    if slots(cpus=cpus, gpus=gpus):
        return
    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]  # nor here
    raise ClusterError(
        f"resources must fit on this machine, with {there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs, "
        f"got {cpus:g} CPUs and {gpus:g} GPUs a run."
    )


def has_gpus() -> bool:
    """Whether a node of the cluster has a GPU."""
    return bool(ray.cluster_resources().get("GPU"))  # type: ignore[no-untyped-call]  # Ray has no annotation here


def share_of_a_gpu(runs_per_gpu: Callable[[], int]) -> float:
    """What one run is given of a GPU so that as many share it as a measurement finds best.

    Args:
        runs_per_gpu: the measurement; runs on a node of the cluster that has a GPU, which it has for itself.

    Raises:
        ClusterError: it has failed.
    """

    def measure() -> int:  # Ray wants a function, which a partial one is not
        return runs_per_gpu()

    try:
        runs: int = ray.get(ray.remote(num_gpus=1, num_cpus=0)(measure).remote())
    except ray.exceptions.RayError as error:
        reason = getattr(error, "cause", error)
        rule = "resources.gpus must be a number where nothing can be measured, got auto"
        raise ClusterError(f"{rule}: {reason}") from error
    return 1 / runs
