"""Many runs: studies, search, seeds, execution, records, statistics, reports and the command line.

From Python: `run_study`, `read_study`, `report` and `rescore`. What they need is imported when they are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from setsweep.sweeps.study.study import Study
    from setsweep.sweeps.sweep.rescoring import RescoredResult
    from setsweep.sweeps.sweep.result import StudyResult

__all__ = ["read_study", "report", "rescore", "run_study"]

DEFAULT_STORAGE = "setsweep-results"


def read_study(study: str | Path | Mapping[str, Any] | Study, overrides: Sequence[str] = ()) -> Study:
    """A checked study.

    Args:
        study: a study file, the name of a bundled study, the contents of a study file as plain data, or a study that is
            read already.
        overrides: values put over it, as in ``training.epochs=3``; the right side is YAML.

    Raises:
        ValueError: every rule that is broken, with file, line and field.
    """
    from setsweep.sweeps.study import reader
    from setsweep.sweeps.study import study as study_

    return study if isinstance(study, study_.Study) else reader.read_study(study, overrides)


def run_study(
    study: str | Path | Mapping[str, Any] | Study,
    *,
    overrides: Sequence[str] = (),
    storage: str | Path = DEFAULT_STORAGE,
    address: str | None = None,
    in_process: bool = False,
    tracking_uri: str | None = None,
    replace: bool = False,
    retry_failed: bool = False,
    progress: bool = True,
) -> StudyResult:
    """Run what is missing of a study; returns when all of it is done, or what its budget allows.

    Args:
        study, overrides: see `read_study`.
        storage: folder or URL where results are kept, a folder a study.
        address: a Ray cluster to join, or "auto"; None: the one that this process is connected to already, else that of
            RAY_ADDRESS, else one on this machine for the sweep.
        in_process: no cluster: one run after the other in this process.
        tracking_uri: MLflow server or database; None: MLflow's own default.
        replace: take a study changed under the same name as the new one.
        retry_failed: train again what has failed before.
        progress: whether to show on standard error how it goes.

    Raises:
        ValueError: bad input; nothing was trained.
        KeyboardInterrupt: Ctrl-C; what is done is kept and reported, and the same call goes on from there.
        sweeps.execution.errors.ExecutorError: no run can be trained (any more); likewise.
    """
    from rich.console import Console

    from setsweep.sweeps.sweep import run_study as running
    from setsweep.sweeps.sweep.allowance import BudgetSpent
    from setsweep.sweeps.sweep.executors import Where
    from setsweep.sweeps.sweep.result import StudyResult

    options = running.RunOptions(
        storage=str(storage),
        where=Where(address=address, in_process=in_process),
        tracking_uri=tracking_uri,
        replace=replace,
        retry_failed=retry_failed,
    )
    read = read_study(study, overrides)
    ended = running.run_study(read, options, Console(stderr=True, quiet=not progress))
    if ended.stopped is not None and not isinstance(ended.stopped, BudgetSpent):
        raise ended.stopped
    return StudyResult(read, ended.folder)


def report(storage: str | Path, study: str) -> StudyResult:
    """What a study has given that was run before, finished or not; nothing is run.

    Args:
        storage: where its results are kept.
        study: its name, or its file.

    Raises:
        ValueError: nothing of such a study is there.
    """
    from setsweep.sweeps.sweep.result import stored_result

    return stored_result(study, str(storage))


def rescore(
    storage: str | Path, study: str, overrides: Sequence[str] = (), *, thresholds: Literal["val", "test"] = "val"
) -> RescoredResult:
    """What a study gives by the scores that it has kept (``keep: {scores: confirm}``); nothing is trained.

    Beside what any result has: `set_sizes`, `accuracy_by_k` and `per_class`.

    Args:
        storage: where its results are kept.
        study: its name, or its file.
        overrides: what is asked instead, as in ``k=[1, 5]``: k, training.head (ml, sccp, or best: for each accuracy the
            one that is better on validation), training.threshold_scores and compare.*.
        thresholds: the split that the thresholds of average-k sets come from.

    Raises:
        ValueError: a field that needs another training, a value that breaks its rule, or scores that were not kept.
    """
    from setsweep.sweeps.sweep.rescoring import rescored_study

    return rescored_study(study, str(storage), overrides, thresholds)
