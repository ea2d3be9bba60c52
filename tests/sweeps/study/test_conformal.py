# ruff: noqa: E501  # messages stand as they are shown
"""Conformal sets in a study file: its fields, the metrics that follow, and whose runs have them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.sweeps.study.design.configuration import plain_config
from setsweep.sweeps.study.study import Study
from setsweep.trainables.conformal.how import Conformal
from setsweep.trainables.conformal.sets import ConformalSets

Read = Callable[..., Study]
Errors = Callable[..., list[str]]


def test_a_study_asks_for_a_coverage_or_some(read_text: Read, example: str) -> None:
    assert read_text(example).coverage == ()
    assert read_text(example, "coverage=0.9").conformal_sets == (ConformalSets("lac", "marginal", 0.9),)
    study = read_text(
        example, "coverage=[0.9, 0.95]", "conformal.scores=[aps, pas]", "conformal.calibrations=classwise"
    )
    assert study.conformal == Conformal(scores=("aps", "pas"), calibrations=("classwise",))
    assert [each.name for each in study.conformal_sets] == [
        "classwise_aps90", "classwise_aps95", "classwise_pas90", "classwise_pas95",
    ]  # fmt: skip


def test_the_runs_that_are_tested_have_them_and_those_of_a_search_are_as_before(read_text: Read, example: str) -> None:
    before, study = read_text(example), read_text(example, "coverage=0.9", "conformal.randomized=true")
    arm = study.arms["cross_entropy"]
    searched, confirmed = (plain_config(study, arm, {}, {}, seed=0, test=test) for test in (False, True))
    assert searched == plain_config(before, arm, {}, {}, seed=0, test=False)
    assert confirmed["coverage"] == [0.9]
    assert confirmed["conformal"]["randomized"] is True
    assert study.protocol() == before.protocol()


def test_their_metrics_can_be_compared_and_shown(read_text: Read, example: str) -> None:
    study = read_text(
        example,
        "coverage=[0.9, 0.95]",
        "compare.metrics=[test/avg2_accuracy, test/lac90_set_size]",
        "compare.show=[test/lac95_undercoverage_few, test/lac90_coverage@top2_accuracy]",
    )
    assert study.compared == ("test/avg2_accuracy", "test/lac90_set_size")
    assert study.at_epochs == ("test/lac90_coverage@top2_accuracy",)


@pytest.mark.parametrize(
    ("overrides", "rule"),
    [
        (("coverage=1",), "coverage: must be > 0 and < 1, got 1."),
        (("coverage=[0.95, 0.9]",), "coverage: must be ascending, got [0.95, 0.9]."),
        (("coverage=0.9", "conformal.scores=thr"), "conformal.scores: must be one of lac, aps, raps, saps, pas, got 'thr'."),
        (("coverage=0.9", "conformal.score=lac"), "conformal.score: unknown field 'score'. Did you mean 'scores'?"),
        (("conformal.scores=lac",), "conformal: must be left out without coverage, got scores."),
        (("coverage=0.9", "compare.show=[test/lac95_coverage]"), "compare.show: unknown test metric 'test/lac95_coverage'. Did you mean 'test/lac90_coverage'?"),
        (("data.calibration=1",), "data.calibration: must be >= 0 and < 1, got 1."),
        (("coverage=0.9", "search.objective=val/lac90_set_size"), "search.objective: must be an accuracy or a set size by a rule, as no choice may see the calibration split"),
    ],
)  # fmt: skip
def test_a_mistake_is_told(errors_of: Errors, example: str, overrides: tuple[str, ...], rule: str) -> None:
    assert any(rule in error for error in errors_of(example, *overrides))


def test_the_share_that_is_set_apart_can_be_a_grid(read_text: Read, example: str) -> None:
    study = read_text(example, "coverage=0.9", "grid={data.calibration: [0.2, 0.5]}")
    assert [point["data.calibration"] for point in study.points()] == [0.2, 0.5]
