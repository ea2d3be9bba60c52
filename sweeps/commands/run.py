"""``setsweep run``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps import DEFAULT_STORAGE, read_study
from setsweep.sweeps.commands.exit_codes import DONE, FAILED, STOPPED
from setsweep.sweeps.commands.told import Quiet, Verbose
from setsweep.sweeps.execution.errors import ExecutorError
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report_folder import PROBLEMS
from setsweep.sweeps.sweep.executors import Where
from setsweep.sweeps.sweep.run_study import RunOptions, run_study


def command(
    study: str,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    storage: str = DEFAULT_STORAGE,
    address: str | None = None,
    in_process: bool = False,
    tracking_uri: str | None = None,
    replace: bool = False,
    retry_failed: bool = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
) -> int:
    """Run a study, or what is missing of it, and print its table.

    Args:
        study: a study file, or the name of a bundled study.
        overrides: change a field of the study for this time, e.g. --set training.epochs=3; may be given several times.
        storage: folder or file:// URL where results are kept.
        address: a Ray cluster to join, or "auto"; default: that of RAY_ADDRESS, else one on this machine for the sweep.
        in_process: no cluster: one run after the other in this process.
        tracking_uri: MLflow server or database; default: MLflow's own (./mlflow.db).
        replace: take a study changed under the same name as the new one.
        retry_failed: train again what has failed before.
        quiet: print the table and errors alone.
        verbose: print a line for each run that ends.
        allow: a package whose functions the study may name besides those of its own folder; may be given several times.
    """
    allow_packages(allow or ())
    options = RunOptions(
        storage=storage,
        where=Where(address=address, in_process=in_process),
        tracking_uri=tracking_uri,
        replace=replace,
        retry_failed=retry_failed,
        verbose=verbose,
    )
    console = Console(stderr=True, quiet=quiet)
    ended = run_study(read_study(study, overrides or ()), options, console)
    print(render(ended.report, "terminal").rstrip("\n"), flush=True)
    places = f"Tables and figures: {ended.folder / 'report'}   MLflow: {ended.records}"
    console.print(places, highlight=False, markup=False, soft_wrap=True)
    if ended.address:
        console.print(ended.address, highlight=False, markup=False, soft_wrap=True)
    if (ended.folder / "report" / PROBLEMS).exists():
        console.print(f"Not all could be drawn: {ended.folder / 'report' / PROBLEMS}", highlight=False, markup=False)
    if ended.stopped is None:
        return FAILED if ended.report.counts.failed else DONE
    counts = ended.counts
    failed = f", {counts.ended - counts.done} diverged or failed," if counts.ended > counts.done else ""
    kept = f"Stopped; {counts.done} of {counts.total} runs are done{failed} and kept."
    console.print(f"{kept} The same command goes on from here.", highlight=False)
    if isinstance(ended.stopped, ExecutorError):
        raise ended.stopped
    return STOPPED
