"""``setsweep rerun``: one run of a study again, in this process."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

from cyclopts import Parameter

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.stored.run_of_study import find_run, stored_runs
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.sweep.preflight import check_functions
from setsweep.trainables.loop import train
from setsweep.trainables.train_file import show_epoch, show_result


def command(
    study: StoredStudy,
    run: str,
    *,
    storage: str = DEFAULT_STORAGE,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
) -> int:
    """Train one run of a study in this process, and show what it raises; nothing is recorded.

    Args:
        study: a study file, or the name of a study.
        run: the key of a run, or its first letters.
        storage: folder or URL where results are kept.
        allow: a package whose functions the study may name besides those of its own folder; may be given several times.
    """
    runs, _ = stored_runs(study, storage)
    found = find_run(runs, run)
    print(f"{found.planned.key}  {found.described}", file=sys.stderr)
    allow_packages(allow or ())
    check_functions(found.study)
    config = found.planned.config
    job = Job(configs=(config,), root=found.study.data_root, download=found.study.download)
    try:
        result = train(config, dataset=DatasetCache().dataset(job, config), on_epoch=show_epoch)
    except Exception:  # noqa: BLE001 - whatever it raises is what is asked for
        traceback.print_exc()
        return FAILED
    show_result(result)
    return DONE if result.status == "done" else FAILED
