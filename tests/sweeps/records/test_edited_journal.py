"""A journal that somebody has edited gives a report, or a sentence that names its line; never a traceback."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.records.lease import FILE, JournalError
from setsweep.sweeps.records.study_folder import stored_state
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study

HERE = Path(__file__).parent / "version_3" / "small"
ANYTHING = (None, "text", -1, 0, float("nan"), [], {}, [1], {"a": 1}, True, "9" * 50, 2**70, 1e308, -1e308, 10**400)
ROUNDS = 40


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study(HERE / "study.yaml")


@pytest.fixture(scope="module")
def records() -> list[Any]:
    return [json.loads(line) for line in (HERE / FILE).read_text().splitlines()]


def report_of(study: Study, folder: Path, records: list[Any]) -> str:
    (folder / FILE).write_text("".join(f"{json.dumps(record)}\n" for record in records))
    planner, looks = stored_state(study, folder)
    return render(build_report(planner.study, planner.runs(), looks, total=planner.total), "json")


def test_a_random_edit_gives_a_report_or_names_the_line(study: Study, records: list[Any], tmp_path: Path) -> None:
    draw = random.Random(0)
    refused = 0
    for _ in range(ROUNDS):
        number = draw.randrange(1, len(records))  # the first line is the study itself
        place = draw.choice(list(_places(records[number])))
        edited = _edited(records[number], place, remove=draw.random() < 0.5, value=draw.choice(ANYTHING))
        try:
            report_of(study, tmp_path, [*records[:number], edited, *records[number + 1 :]])
        except JournalError as error:
            refused += 1
            assert f"{FILE}:{number + 1}: must be a record of a sweep" in str(error)
    assert 0 < refused < ROUNDS, "the edits are all refused, or none is: the test has lost its teeth"


def test_a_result_without_the_objective_counts_as_one_that_gave_nothing(
    study: Study, records: list[Any], tmp_path: Path
) -> None:
    edited = copy.deepcopy(records)
    for record in edited:
        for each in record.get("results", [record]):
            if each.get("stage") == "search" and each["trial"] == 0:
                each["result"]["metrics"].pop("val/avg1_accuracy", None)
    report = json.loads(report_of(study, tmp_path, edited))
    assert report["aggregates"]


@pytest.mark.parametrize("number", [1e308, -1e308, 10**400])
@pytest.mark.parametrize("where", ["metrics", "curves"])
def test_a_number_of_which_no_mean_can_be_taken_is_refused(
    study: Study, records: list[Any], tmp_path: Path, where: str, number: float
) -> None:
    edited = copy.deepcopy(records)
    line = next(at for at, record in enumerate(edited) if record["record"] == "result")
    values = edited[line]["result"][where]
    name = next(iter(values))
    values[name] = number if where == "metrics" else [number] * len(values[name])
    with pytest.raises(JournalError, match=rf"{FILE}:{line + 1}: must be a record of a sweep"):
        report_of(study, tmp_path, edited)


@pytest.mark.parametrize("status", ["DONE", "running", "", None])
def test_a_status_that_no_run_ends_with_is_refused(
    study: Study, records: list[Any], tmp_path: Path, status: str | None
) -> None:
    edited = copy.deepcopy(records)
    line = next(at for at, record in enumerate(edited) if record["record"] == "result")
    edited[line]["result"]["status"] = status
    with pytest.raises(JournalError, match=rf"{FILE}:{line + 1}: must be a record of a sweep"):
        report_of(study, tmp_path, edited)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of everything below the top, but for the points of curves, which are the most."""
    if place:
        yield place
    if "curves" not in place:
        inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, each in inner:
            yield from _places(each, (*place, key))


def _edited(record: Any, place: tuple[Any, ...], *, remove: bool, value: Any) -> Any:
    edited = copy.deepcopy(record)
    parent = edited
    for key in place[:-1]:
        parent = parent[key]
    if remove:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return edited
