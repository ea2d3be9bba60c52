"""What commands about submitted studies have in common: which cluster, which of its jobs, and a short command there."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from setsweep.losses.values import nearest
from setsweep.sweeps.commands.exit_codes import DONE, FAILED, STOPPED
from setsweep.sweeps.execution.cluster_file import Cluster, named_cluster

if TYPE_CHECKING:
    from setsweep.sweeps.execution.job_service import JobService, Submitted

NOTED = "cluster"  # the address that means the one that is noted
POLL_SECONDS = 0.5
AWAY_SECONDS = 120.0  # that a cluster may not answer one who waits for a study
RAYS_OWN = re.compile(r"[-\d]{10} [:\d,]{12}\tINFO job_manager|Running entrypoint for job ")


def reach(address: str | None) -> tuple[JobService, Cluster]:
    """The job service at an address, or of the cluster that is noted, and what is noted of it."""
    from setsweep.sweeps.execution.job_service import JobService  # and with it Ray

    cluster = named_cluster(None if address == NOTED else address)
    return JobService(cluster.address, cluster.token), cluster


def latest(service: JobService, study: str) -> Submitted:
    """The job of a study that was submitted last. Raises ValueError: there is none."""
    jobs = service.all()
    for job in reversed(jobs):
        if study in (job.study, job.name):
            return job
    known = sorted({job.study for job in jobs})
    listed = f"{nearest(study, known)} Submitted: {', '.join(known)}." if known else ""
    raise ValueError(f"STUDY must have been submitted to {service.address}, got {study!r}.{listed}")


def watch(service: JobService, name: str) -> int:
    """Show what a job says until it ends, and give its exit code; a cluster that is away is waited for.

    Raises:
        sweeps.execution.job_service.LostClusterError: it stays away.
        sweeps.execution.job_service.UnknownJobError: it comes back without the job.
    """
    from setsweep.sweeps.execution.job_service import LostClusterError

    shown = 0
    while True:
        said = 0
        try:
            for piece in service.follow(name):
                print(piece[max(0, shown - said) :], end="", flush=True)  # after a break it is said from the beginning
                said += len(piece)
                shown = max(shown, said)
            return exit_code(ended(service, name))
        except LostClusterError as error:
            _await(service, name, error)


def _await(service: JobService, name: str, error: Exception) -> None:
    """Wait until a job can be asked after again. Raises the error: it takes too long."""
    from setsweep.sweeps.execution.job_service import LostClusterError

    deadline = time.monotonic() + AWAY_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(LostClusterError):
            service.get(name)
            return
        time.sleep(POLL_SECONDS)
    print("setsweep: the study goes on where the cluster does: setsweep list, logs, resume.", file=sys.stderr)
    raise error


def ended(service: JobService, name: str) -> Submitted:
    """A job, when it is over."""
    while not (job := service.get(name)).over:
        time.sleep(POLL_SECONDS)
    return job


def exit_code(job: Submitted) -> int:
    """What the command itself would have given."""
    if job.state == "done":
        return DONE
    if job.state == "stopped":
        return STOPPED
    if job.exit_code is None or job.exit_code < 0:  # it was never started, or was killed
        reason = job.message.partition(", last available logs")[0].rstrip(".")
        goes_on = f"'setsweep resume {job.study}' goes on with it."
        print(f"setsweep: {job.name} must go on to its end, got: {reason}. {goes_on}", file=sys.stderr)
        return FAILED
    return job.exit_code or FAILED


def ask_there(service: JobService, command: Sequence[str]) -> int:
    """Run one of our commands on the cluster, where the storage is, and show what it says."""
    name = f"setsweep-{command[0]}-{uuid4().hex[:8]}"
    service.ask(["setsweep", *command], name)
    job = ended(service, name)
    shown = [line for line in service.said(name).splitlines(keepends=True) if not RAYS_OWN.match(line)]
    print("".join(shown), end="")
    return exit_code(job)
