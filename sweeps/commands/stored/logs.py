"""``setsweep logs``: why runs failed, and what has happened to one."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.cluster.asked import logs_there
from setsweep.sweeps.commands.detached import follow_here
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.stored.run_of_study import StoredRun, find_run, stored_runs
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.failed_runs import run_folder
from setsweep.sweeps.records.run_log import log_file, read_log


def command(
    study: StoredStudy,
    run: str | None = None,
    *,
    storage: str = DEFAULT_STORAGE,
    address: str | None = None,
    follow: Annotated[bool, Parameter(alias="-f")] = False,
) -> int:
    """Print the runs that diverged or failed; of one run what has happened to it; of a study elsewhere what it says.

    Args:
        study: a study file, or the name of a study.
        run: the key of a run, or its first letters.
        storage: folder or URL where results are kept.
        address: of studies that were submitted: http://HEAD:8265, or "cluster" for the one that is noted.
        follow: of a study that was submitted, or that 'run --detach' has begun: what it says, until it ends.
    """
    if address is not None:
        return logs_there(study, run, address, follow=follow)
    if follow:
        return follow_here(study, storage)
    runs, folder = stored_runs(study, storage)
    if run is None:
        failed = [each for each in runs if each.result is not None and each.result.status != "done"]
        print("\n".join(map(_line, failed)) or "No run has diverged or failed.")
        return DONE
    found = find_run(runs, run)
    print(_line(found))
    if events := [*read_log(folder, found.planned.key)]:
        print("", f"{log_file(folder, found.planned.key)}:", *events, sep="\n")
    kept = run_folder(folder, found.planned.key)
    for name in ("output.txt", "traceback.txt"):
        if (kept / name).exists() and (text := (kept / name).read_text(encoding="utf-8").rstrip()):
            print(f"\n{kept / name}:\n{text}")
    if kept.exists():
        print(f"\nTrain it again in this process: setsweep rerun {study} {found.planned.key}")
    return DONE


def _line(run: StoredRun) -> str:
    result = run.result
    state = "waiting" if result is None else result.status
    reason = f": {result.reason}" if result is not None and result.reason else ""
    return f"{run.planned.key}  {run.described}  {state}{reason}"
