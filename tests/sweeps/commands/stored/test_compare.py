"""``setsweep compare`` on studies whose results are made up, so that every number is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import open_journal, study_folder
from setsweep.sweeps.statistics.methods.intervals import paired_difference
from setsweep.sweeps.statistics.methods.welch import independent_difference
from setsweep.sweeps.study.reader import read_study
from setsweep.trainables.config.run_result import RunResult

BASE = {
    "study": "first",
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "k": [2],
    "arms": {"cross_entropy": {}, "avgk": {}},
    "confirm": {"seeds": 4},
    "compare": {"baseline": "cross_entropy"},
}
Value = Callable[[PlannedRun], float]
FIRST = {0: 0.50, 1: 0.53, 2: 0.55, 3: 0.52}
SECOND = {0: 0.48, 1: 0.52, 2: 0.51, 3: 0.51}


def _first(run: PlannedRun) -> float:
    return FIRST[run.seed % 4] + 0.1 * (run.arm == "avgk")


def _second(run: PlannedRun) -> float:
    return SECOND[run.seed % 4] + 0.1 * (run.arm == "avgk")


def _keep(value: Value, *, storage: str = "setsweep-results", **changes: Any) -> None:
    """A study that was run, with a value for each run."""
    study = read_study({**BASE, **changes})
    with open_journal(study, study_folder(storage, study.name)) as journal:
        planner = Planner(study)
        while isinstance(run := planner.next_run(), PlannedRun):
            metrics = {"test/top2_accuracy": value(run), "test/avg2_accuracy": value(run) + 0.01}
            result = RunResult(key=run.key, status="done", metrics=metrics)
            planner.tell(result)
            journal.add_all([(run, result)])


def _differences(setsweep: Any, *arguments: str) -> Any:
    said = setsweep("compare", *arguments, "--format", "json")
    assert said.code == 0, said.err
    return json.loads(said.out)


@pytest.mark.usefixtures("folder")
def test_arms_with_the_same_seeds_and_data_are_paired_and_corrected(setsweep: Any) -> None:
    """Differences of 2, 1, 4 and 1 points for both arms, so Holm doubles both p-values."""
    _keep(_first)
    _keep(_second, study="second", training={"epochs": 3})
    told = _differences(setsweep, "first", "second")
    expected = paired_difference(FIRST, SECOND, confidence=0.95)
    assert (told["metric"], told["correction"]) == ("test/avg2_accuracy", "holm")
    assert [each["first"]["arm"] for each in told["differences"]] == ["avgk", "cross_entropy"]
    for each in told["differences"]:
        assert (each["n"], each["unpaired"]) == (4, None)
        assert each["difference"] == pytest.approx(0.02)
        assert (each["ci_low"], each["ci_high"]) == pytest.approx((expected.ci_low, expected.ci_high))
        assert each["p_corrected"] == pytest.approx(2 * each["p"])
    shown = setsweep("compare", "first", "second", "--metric", "test/top2_accuracy").out
    row = next(line.split() for line in shown.splitlines() if line.startswith("cross_entropy"))
    assert row[1:4] == ["52.50", "±", "3.31"]
    assert row[-3:] == ["4", "by", "seed"]
    assert "+2.00 ± 2.25" in shown
    assert "The studies differ in training.epochs 10 and 3." in shown


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"confirm": {"seeds": [4, 5, 6, 7]}}, "no seeds in common"),
        ({"confirm": {"seeds": [2, 3, 4, 5]}}, "2 seeds in common"),
        ({"data": {"name": "digits", "label_noise": 0.2}}, "other data: label_noise 0.0 and 0.2"),
    ],
)
def test_why_arms_are_not_paired_is_said(setsweep: Any, changes: dict[str, Any], why: str) -> None:
    _keep(_first)
    _keep(_second, study="second", **changes)
    told = _differences(setsweep, "first", "second", "--metric", "test/top2_accuracy")
    expected = independent_difference([*FIRST.values()], [*SECOND.values()], confidence=0.95)
    for each in told["differences"]:
        assert (each["unpaired"], each["n"]) == (why, None)
        assert each["p"] == pytest.approx(expected.p)
        assert each["difference"] == pytest.approx(0.02)
    assert f"no: {why}" in setsweep("compare", "first", "second", "--format", "markdown").out


@pytest.mark.usefixtures("folder")
def test_studies_of_two_storages_and_arms_of_two_names_can_be_compared(setsweep: Any) -> None:
    _keep(_first)
    _keep(_second, storage="other", arms={"avgk_again": {"loss": "avgk"}}, compare={})
    refused = setsweep("compare", "first", "other/first")
    assert refused.code == 2
    assert "--arm FIRST=SECOND must be given where no arm is in both studies" in refused.err
    [each] = _differences(setsweep, "first", "other/first", "--arm", "avgk=avgk_again")["differences"]
    assert (each["first"]["arm"], each["second"]["arm"], each["n"]) == ("avgk", "avgk_again", 4)


@pytest.mark.usefixtures("folder")
def test_equal_grid_points_are_compared_and_a_study_without_a_grid_everywhere(setsweep: Any) -> None:
    _keep(_first, grid={"data.label_noise": [0.0, 0.2]})
    _keep(_second, study="second", grid={"data.label_noise": [0.2, 0.4]})
    _keep(_second, study="third")
    both = _differences(setsweep, "first", "second")["differences"]
    assert [each["first"]["point"] for each in both] == [{"data.label_noise": 0.2}] * 2
    alone = _differences(setsweep, "first", "third")["differences"]
    assert {each["first"]["point"]["data.label_noise"]: each["unpaired"] for each in alone} == {
        0.0: None,
        0.2: "other data: label_noise 0.2 and 0.0",
    }


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--metric", "test/topp2_accuracy"), "--metric must be one that both studies have, got 'test/topp2_accuracy'"),
        (("--arm", "avgk"), "--arm must be FIRST=SECOND, got 'avgk'."),
        (("--arm", "avgk=avk"), "got 'avk', not in second. Did you mean 'avgk'?"),
        (("--format", "latex"), "format must be one of terminal, markdown, json, got 'latex'."),
    ],
)
def test_what_can_not_be_compared_is_refused(setsweep: Any, arguments: tuple[str, ...], message: str) -> None:
    _keep(_first)
    _keep(_second, study="second")
    said = setsweep("compare", "first", "second", *arguments)
    assert said.code == 2
    assert message in said.err


def test_a_study_that_was_never_run_can_not_be_compared(setsweep: Any, folder: Path) -> None:
    _keep(_first)
    (folder / "never.yaml").write_text(
        "study: never\ndata: {name: digits}\nmodel: {name: linear}\nk: 2\narms: {avgk: {}}\n"
    )
    said = setsweep("compare", "first", "never.yaml")
    assert said.code == 2
    assert "must be a folder in which 'never' was run" in said.err
