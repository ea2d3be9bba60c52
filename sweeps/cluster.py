"""Joining a Ray cluster, or starting one on this machine for the time of the sweep."""

from __future__ import annotations

import logging
import os
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")

import ray  # reads the settings above when it is imported


class ClusterError(ValueError):
    """There is no cluster at that address; the message says what to do."""


def connect(address: str | None) -> None:
    """Join the cluster at `address`, or start one on this machine (None).

    Raises:
        ClusterError: no cluster answers there.
    """
    if ray.is_initialized():
        return
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        ray.init(include_dashboard=False, **options)
        return
    try:
        ray.init(address=address, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ClusterError(
            f"--address must be the address of a running Ray cluster, got {address!r}: {error}. "
            "Leave it out to run on this machine, or start a cluster with 'ray start --head'."
        ) from None


def disconnect() -> None:
    """Leave the cluster; one that `connect` started ends."""
    ray.shutdown()


def slots(*, cpus: float, gpus: float) -> int:
    """How many runs the cluster can train at once; at least one, which then waits for a node that fits."""
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]  # Ray has no annotation here
    fits = [resources.get(kind, 0) / need for kind, need in (("CPU", cpus), ("GPU", gpus)) if need > 0]
    return max(1, int(min(fits)))
