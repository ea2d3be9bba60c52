"""Whether the cluster that studies are submitted to answers, with the right version and token, and has room."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import version

from setsweep.sweeps.commands.health.clock import compare_clock
from setsweep.sweeps.commands.health.finding import Finding
from setsweep.sweeps.execution.cluster_file import cluster_file, named_cluster


def check_cluster(address: str | None) -> Iterator[Finding]:
    """The cluster at an address, else the one that is noted; nothing where there is none."""
    if address is None and not cluster_file().exists():
        started = os.environ.get("RAY_ADDRESS")
        said = f"'setsweep run' joins {started} (RAY_ADDRESS)" if started else "each sweep starts one on this machine"
        yield Finding(of="Ray", said=f"{version('ray')}; {said}")
        return
    try:
        cluster = named_cluster(address)
        from setsweep.sweeps.execution.job_service import JobService

        service = JobService(cluster.address, cluster.token)
        nodes = service.nodes()
    except ValueError as error:
        yield Finding(of="Ray", state="wrong", said=str(error))
        return
    yield from compare_clock("the cluster's head", service.date)
    guarded = "asks for a token" if service.guarded else "asks for no token"
    cpus, gpus = (sum(node.get(kind, 0) for node in nodes) for kind in ("CPU", "GPU"))
    said = f"{cluster.address}, version {version('ray')}, {guarded}: {len(nodes)} nodes, {cpus:g} CPUs, {gpus:g} GPUs"
    if not service.guarded:
        mend = "Start it with RAY_AUTH_MODE=token; docker/README.md has ways that do."
        yield Finding(of="Ray", state="note", said=f"{said}; whoever reaches it can run programs there.", mend=mend)
    elif not cpus:
        yield Finding(of="Ray", state="note", said=f"{said}; studies wait until a worker joins.")
    else:
        yield Finding(of="Ray", said=said)
