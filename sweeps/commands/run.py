"""``setsweep run``."""

from __future__ import annotations

import os
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps import DEFAULT_STORAGE, read_study
from setsweep.sweeps.commands.detached import begin
from setsweep.sweeps.commands.exit_codes import DONE, FAILED, STOPPED
from setsweep.sweeps.commands.on_end import State, call_command, check_command
from setsweep.sweeps.commands.options import as_words, with_budget
from setsweep.sweeps.commands.study_names import AnyStudy
from setsweep.sweeps.commands.told import Quiet, Verbose
from setsweep.sweeps.execution.errors import ExecutorError
from setsweep.sweeps.records.remote.working_copy import is_stored
from setsweep.sweeps.records.study_folder import storage_folder, study_folder
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report_folder import PROBLEMS
from setsweep.sweeps.sweep.allowance import BudgetSpent
from setsweep.sweeps.sweep.executors import Where
from setsweep.sweeps.sweep.run_study import Ended, RunOptions, run_study
from setsweep.trainables.config.run_config import RESULTS_VERSION


def command(
    study: AnyStudy,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    storage: str = DEFAULT_STORAGE,
    address: str | None = None,
    in_process: bool = False,
    tracking_uri: str | None = None,
    replace: bool = False,
    take_over: bool = False,
    retry_failed: bool = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    on_end: str | None = None,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
    max_time: float | None = None,
    max_runs: int | None = None,
    max_gpu_hours: float | None = None,
    detach: bool = False,
    results_version: Annotated[int | None, Parameter(show=False)] = None,
) -> int:
    """Run a study, or what is missing of it, and print its table.

    Args:
        study: a study file, or the name of a bundled study.
        overrides: change a field of the study for this time, e.g. --set training.epochs=3; may be given several times.
        storage: folder or URL where results are kept.
        address: a Ray cluster to join, or "auto"; default: that of RAY_ADDRESS, else one on this machine for the sweep.
        in_process: no cluster: one run after the other in this process.
        tracking_uri: MLflow server or database; default: MLflow's own (./mlflow.db).
        replace: take a study changed under the same name as the new one.
        take_over: take the study from a process that holds it, if that gives no sign of life for half a minute.
        retry_failed: train again what has failed before.
        quiet: print the table and errors alone.
        verbose: print a line for each run that ends.
        on_end: a command to call at the end, without a shell; it finds what has ended in SETSWEEP_STUDY, SETSWEEP_STATE
            (done, failed, stopped or refused), SETSWEEP_RUNS and SETSWEEP_REPORT.
        allow: a package whose functions the study may name besides those of its own folder; may be given several times.
        max_time: hours after which the sweep ends with what it has; the study's budget.max_time.
        max_runs: runs of the study that are trained at most; its budget.max_runs.
        max_gpu_hours: GPU hours that its runs may take; its budget.max_gpu_hours.
        detach: run it in the background, also when this terminal is closed; see 'setsweep logs STUDY --follow'.
        results_version: of the machine that has submitted the study, whose results ours must equal.
    """
    _check_version(results_version)
    allow_packages(allow or ())
    changes = with_budget(overrides, max_time, max_runs, max_gpu_hours)
    read = read_study(study, changes)
    if detach:
        same: dict[str, object] = {"set": changes, "storage": storage, "address": address, "tracking-uri": tracking_uri}
        same |= {"in-process": in_process, "replace": replace, "retry-failed": retry_failed, "allow": allow}
        same |= {"quiet": quiet, "verbose": verbose, "take-over": take_over}
        return begin(["run", study, *as_words(same)], read.name, study_folder(storage, read.name))
    at_end = check_command(on_end)
    options = RunOptions(
        storage=storage,
        where=Where(address=address, in_process=in_process),
        tracking_uri=tracking_uri or (None if results_version is None else _beside(storage)),
        replace=replace,
        take_over=take_over,
        retry_failed=retry_failed,
        verbose=verbose,
    )
    console = Console(stderr=True, quiet=quiet, highlight=False, markup=False, soft_wrap=True)
    try:
        ended = run_study(read, options, console)
    except BaseException as error:  # Ctrl-C before the training as well: who waits for the end must hear of it
        state: State = "stopped" if isinstance(error, KeyboardInterrupt) else "refused"
        call_command(at_end, study=read.name, state=state, runs="", report=None)
        raise
    code = _show(ended, console)
    runs = f"{ended.counts.done} of {ended.counts.total} runs"
    if problem := call_command(at_end, study=read.name, state=_state(ended), runs=runs, report=ended.folder / "report"):
        console.print(problem)
    if isinstance(ended.stopped, ExecutorError):
        raise ended.stopped
    return code


def _show(ended: Ended, console: Console) -> int:
    """Print how a study ended; the exit code."""
    print(render(ended.report, "terminal").rstrip("\n"), flush=True)
    console.print(f"Tables and figures: {ended.folder / 'report'}   MLflow: {ended.records}")
    if ended.address:
        console.print(ended.address)
    if (ended.folder / "report" / PROBLEMS).exists():
        console.print(f"Not all could be drawn: {ended.folder / 'report' / PROBLEMS}")
    code = FAILED if ended.report.counts.failed else DONE
    if ended.stopped is None:
        return code
    counts = ended.counts
    failed = f", {counts.ended - counts.done} diverged or failed," if counts.ended > counts.done else ""
    kept = f"Stopped; {counts.done} of {counts.total} runs are done{failed} and kept."
    if isinstance(ended.stopped, BudgetSpent):
        missing = ", ".join(f"{runs} of {arm}" for arm, runs in ended.missing.items())
        done = f"{counts.done} of {counts.total} runs done{failed} and kept"
        console.print(f"{ended.stopped}: the sweep ends here, with {done}. Missing: {missing}.")
        console.print("With a larger budget the same command goes on from here.")
        return code
    console.print(f"{kept} The same command goes on from here.")
    return STOPPED


def _state(ended: Ended) -> State:
    if ended.stopped is not None:
        return "stopped"
    return "failed" if ended.report.counts.failed else "done"


def _check_version(results_version: int | None) -> None:
    if results_version not in (None, RESULTS_VERSION):
        raise ValueError(
            "Setsweep must give the same results on the cluster and where the study was submitted, got version "
            f"{RESULTS_VERSION} of results on the cluster and {results_version} there. Install the same one on both."
        )


def _beside(storage: str) -> str | None:
    """Where a study that was submitted is recorded if nothing says it: its working folder goes with it."""
    if os.environ.get("MLFLOW_TRACKING_URI") or is_stored(storage):
        return None
    return f"sqlite:///{storage_folder(storage).absolute()}/mlflow.db"
