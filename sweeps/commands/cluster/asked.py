"""What `status` and `logs` say of a study on a cluster, where its storage is."""

from __future__ import annotations

from setsweep.sweeps.commands.cluster.jobs import ask_there, latest, reach, watch
from setsweep.sweeps.commands.exit_codes import DONE


def status_there(study: str | None, address: str, *, as_json: bool) -> int:
    """The state of a study's job, and what is done, running, failed and waiting; of all studies without a name."""
    service, cluster = reach(address)
    form = ["--json"] if as_json else []
    if study is None:
        return ask_there(service, ["status", f"--storage={cluster.storage}", *form])
    job = latest(service, study)
    if not as_json:
        print(f"{job.name}: {job.state}", flush=True)
    return ask_there(service, ["status", job.study, f"--storage={job.storage}", *form])


def logs_there(study: str, run: str | None, address: str, *, follow: bool) -> int:
    """What a study's job has said, or says until it ends; of one of its runs all that it left."""
    service, _ = reach(address)
    job = latest(service, study)
    if run is not None:
        return ask_there(service, ["logs", job.study, run, f"--storage={job.storage}"])
    if follow:
        return watch(service, job.name)
    print(service.said(job.name), end="")
    return DONE
