"""``setsweep resume``."""

from __future__ import annotations

from setsweep.sweeps.commands.cluster.jobs import latest, reach, watch
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import StoredStudy


def command(study: StoredStudy, *, address: str | None = None, take_over: bool = False, wait: bool = False) -> int:
    """Go on with a submitted study that was stopped or has failed; no file of this machine is needed.

    Args:
        study: the name of a study that was submitted, or of its job.
        address: where the cluster takes jobs, http://HEAD:8265; default: the one that 'setsweep connect' has noted.
        take_over: take the study from a process that holds it, if that gives no sign of life for half a minute.
        wait: show what the study says until it ends, and end with its exit code.
    """
    service, _ = reach(address)
    job = latest(service, study)
    if not job.over:
        raise ValueError(f"study {job.study!r} must be over to be resumed, got {job.name}, which is {job.state}.")
    name = service.again(job, *(["--take-over"] if take_over else []))
    print(f"{name}: submitted to {service.address}; it goes on where {job.name} has ended.", flush=True)
    return watch(service, name) if wait else DONE
