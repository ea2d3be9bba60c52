"""``setsweep compare``: two studies side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import stored_state, stored_study
from setsweep.sweeps.reports.compared_studies import Told, compare_studies, render_compared
from setsweep.sweeps.study.reader import read_study


def command(
    first: StoredStudy,
    second: StoredStudy,
    *,
    metric: str | None = None,
    arms: Annotated[list[str] | None, Parameter(name="--arm", negative=())] = None,
    form: Annotated[str, Parameter(name="--format")] = "terminal",
    storage: str = DEFAULT_STORAGE,
) -> int:
    """Print how two studies differ on one metric, arm by arm: paired by seed where seeds and data are the same.

    Args:
        first: the name of a study, its file, or its folder in any storage.
        second: another; it is taken from the first.
        metric: a test metric, e.g. test/avg5_accuracy; default: the first study's primary one.
        arms: an arm of the first and one of the second, e.g. --arm avgk=avgk_long; default: those of the same name; may
            be given several times.
        form: terminal, markdown or json.
        storage: folder or URL where results are kept.
    """
    told = [_told(each, storage) for each in (first, second)]
    asked = None if arms is None else dict(map(_pair, arms))
    print(render_compared(compare_studies(told[0], told[1], metric=metric, arms=asked), form).rstrip("\n"))
    return DONE


def _told(given: str, storage: str) -> Told:
    planner = _planner(given, storage)
    return Told(name=given.rstrip("/"), study=planner.study, runs=planner.runs())


def _planner(given: str, storage: str) -> Planner:
    if (Path(given) / "study.yaml").exists():
        read, folder = read_study(Path(given) / "study.yaml"), Path(given)
    else:
        read, folder = stored_study(given, storage)
    return stored_state(read, folder, results_of=storage)[0]


def _pair(text: str) -> tuple[str, str]:
    first, equals, second = text.partition("=")
    if not (first and equals and second):
        raise ValueError(f"--arm must be FIRST=SECOND, got {text!r}.")
    return first, second
