"""``setsweep submit``."""

from __future__ import annotations

import re
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps import read_study
from setsweep.sweeps.commands.cluster.jobs import NOTED, reach, watch
from setsweep.sweeps.commands.cluster.luggage import pack
from setsweep.sweeps.commands.exit_codes import DONE, STOPPED
from setsweep.sweeps.commands.options import as_words, with_budget
from setsweep.sweeps.commands.plan import UNKNOWN, make_plan, print_plan
from setsweep.sweeps.commands.study_names import AnyStudy
from setsweep.sweeps.execution.capacity import room
from setsweep.sweeps.execution.cluster_file import Cluster
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_config import RESULTS_VERSION

if TYPE_CHECKING:
    from setsweep.sweeps.execution.job_service import JobService

UNMEASURED = "What runs take was not measured, since --yes was given; --rate FILE tells it."


def command(
    study: AnyStudy,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    address: str | None = None,
    storage: str | None = None,
    tracking_uri: str | None = None,
    rate: Path | None = None,
    replace: bool = False,
    take_over: bool = False,
    retry_failed: bool = False,
    max_time: float | None = None,
    max_runs: int | None = None,
    max_gpu_hours: float | None = None,
    yes: bool = False,
    wait: bool = False,
    env: Annotated[list[str] | None, Parameter(name="--env", negative=())] = None,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
) -> int:
    """Run a study on a cluster, from anywhere; says first what it takes, and asks.

    Args:
        study: a study file, or the name of a bundled study.
        overrides: change a field of the study for this time, e.g. --set training.epochs=3; may be given several times.
        address: where the cluster takes jobs, http://HEAD:8265; default: the one that 'setsweep connect' has noted.
        storage: folder on the cluster, seen by all of its nodes; default: the one that is noted.
        tracking_uri: MLflow server, as the cluster reaches it; default: the one that the cluster's head has.
        rate: a file with what runs take, as 'plan --save-rate' has measured it on such a machine.
        replace: take a study changed under the same name as the new one.
        take_over: take the study from a process that holds it, if that gives no sign of life for half a minute.
        retry_failed: train again what has failed before.
        max_time: hours after which the sweep ends with what it has; the study's budget.max_time.
        max_runs: runs of the study that are trained at most; its budget.max_runs.
        max_gpu_hours: GPU hours that its runs may take; its budget.max_gpu_hours.
        yes: don't ask; what runs take is told from --rate alone, nothing is measured.
        wait: show what the study says until it ends, and end with its exit code.
        env: a variable for the study and its workers, NAME=VALUE; no secret: who has the token can see it; may be given
            several times.
        allow: a package whose functions the study may name besides those of its own folder; may be given several times.
    """
    allow_packages(allow or ())
    environment = dict(map(_variable, env or ()))
    service, cluster = reach(address)
    read = read_study(study, with_budget(overrides, max_time, max_runs, max_gpu_hours))
    _check_idle(service, read)
    if not _agreed(service, cluster, read, rate=rate, yes=yes):
        print("Nothing was submitted.")
        return STOPPED
    storage = storage or cluster.storage
    with tempfile.TemporaryDirectory(prefix="setsweep-submit-") as folder:
        options: dict[str, object] = {
            "address": "auto",
            "storage": storage,
            "results-version": RESULTS_VERSION,
            "allow": allow,
        }
        options |= {"tracking-uri": tracking_uri, "replace": replace, "retry-failed": retry_failed}
        options |= {"take-over": take_over}
        words = ["setsweep", "run", pack(read, Path(folder)), *as_words(options)]
        name = service.submit(words, read.name, storage=storage, folder=Path(folder), environment=environment)
    print(f"{name}: submitted to {service.address}.", flush=True)
    if wait:
        return watch(service, name)
    print(f"setsweep logs {read.name} --address {address or NOTED} --follow    and: list, status, stop, resume")
    return DONE


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"--env must be NAME=VALUE, got {text!r}.")
    return name, value


def _check_idle(service: JobService, study: Study) -> None:
    for job in service.all():
        if job.study == study.name and not job.over:
            raise ValueError(
                f"study {study.name!r} must not be on the cluster already, got {job.name}, which is {job.state}. "
                f"'setsweep stop {study.name}' ends it."
            )


def _agreed(service: JobService, cluster: Cluster, study: Study, *, rate: Path | None, yes: bool) -> bool:
    """Say what the study takes, and ask whether it is to be submitted."""
    slots = _slots(service, study)
    if not yes and not sys.stdin.isatty():
        raise ValueError("--yes must be given where nobody can be asked.")
    console, told = Console(highlight=False), Console(stderr=True)
    with tempfile.TemporaryDirectory() as nowhere:
        wanted = partial(make_plan, study, told, storage=nowhere, slots=slots or 1, rate=rate)
        try:
            plan = wanted(measured=not yes)
        except (ValueError, OSError) as error:
            if rate is not None:
                raise
            console.print(f"What runs take can't be measured here: {error}", markup=False)
            plan = wanted(measured=False)
    print_plan(plan, unknown=UNMEASURED if yes else UNKNOWN)
    if slots == 0:
        console.print(f"No node of {service.address} has room for a run yet: it waits until one joins.")
    if plan.known:
        console.print(_spent(study, cluster, plan.seconds / 3600), markup=False)
    return yes or console.input("Submit? [y/N] ", markup=False).strip().lower() in ("y", "yes")


def _spent(study: Study, cluster: Cluster, hours: float) -> str:
    """What so many hours of training take of the cluster, at most where GPUs are shared by a measurement."""
    gpus = study.resources.gpus
    kind, amount = ("GPU", 1.0 if gpus == "auto" else gpus) if gpus else ("CPU", study.resources.cpus)
    most = "at most " if gpus == "auto" else "about "
    text = f"That is {most}{hours * amount:.2g} {kind} hours"
    return text + (f", {hours * amount * cluster.price:.2f} {cluster.currency}." if cluster.price else ".")


def _slots(service: JobService, study: Study) -> int:
    """How many runs the cluster's nodes have room for."""
    cpus, gpus = study.resources.cpus, study.resources.gpus
    share = 1.0 if gpus == "auto" else gpus
    nodes = service.nodes()
    if gpus == "auto" and not any(node.get("GPU") for node in nodes):
        share = 0.0
    return sum(room(node.get("CPU", 0), node.get("GPU", 0), cpus=cpus, gpus=share) for node in nodes)
