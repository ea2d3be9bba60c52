"""Ours beside a published number: the right aggregate, the difference, and whether it lies inside."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.statistics.published import Beside, beside_published
from setsweep.sweeps.study.published import Published
from setsweep.sweeps.study.study import Study


@pytest.fixture
def report(study: Study, results: Callable[..., Any]) -> Report:
    return build_report(study, results(study))


def _one(report: Report, mean: float, **changes: Any) -> Beside:
    """The row of a number published of the arm avgk at the study's first point."""
    fields: dict[str, Any] = {
        "where": "table 1",
        "arm": "avgk",
        "point": report.study.points()[0],
        "metric": report.study.primary,
        "mean": mean,
        "spread": None,
        "kind": "ci",
        "seeds": None,
    }
    study = replace(report.study, published=(Published(**{**fields, **changes}),))
    [row] = beside_published(study, report.aggregates)
    return row


def _ours(report: Report) -> Any:
    point = report.study.points()[0]
    return next(
        a
        for a in report.aggregates
        if (a.arm, a.point, a.stage, a.metric) == ("avgk", point, "confirm", report.study.primary)
    )


def test_ours_is_the_confirmation_of_that_arm_at_that_point(report: Report) -> None:
    ours, row = _ours(report), _one(report, 0.9)
    assert (row.mean, row.ci_low, row.ci_high, row.n) == (ours.mean, ours.ci_low, ours.ci_high, ours.n)
    assert row.difference == pytest.approx(ours.mean - 0.9)


@pytest.mark.parametrize("end", ["ci_low", "ci_high", "mean"])
def test_a_number_without_a_spread_is_inside_up_to_the_ends_of_our_interval(report: Report, end: str) -> None:
    assert _one(report, getattr(_ours(report), end)).inside is True
    assert _one(report, _ours(report).ci_high + 1e-6).inside is False
    assert _one(report, _ours(report).ci_low - 1e-6).inside is False


@pytest.mark.parametrize(
    ("changes", "half_width"),
    [
        ({"spread": 0.03}, 0.03),
        ({"spread": 0.03, "kind": "sd", "seeds": 10}, 2.262157 * 0.03 / math.sqrt(10)),  # t of 9 degrees at 0.975
        ({"spread": 0.03, "kind": "sd"}, 0.0),  # of how many seeds is not said
    ],
)
def test_the_papers_own_interval_is_added_in_quadrature(
    report: Report, changes: dict[str, Any], half_width: float
) -> None:
    ours = _ours(report)
    limit = math.hypot((ours.ci_high - ours.ci_low) / 2, half_width)
    assert _one(report, ours.mean + 0.999 * limit, **changes).inside is True
    assert _one(report, ours.mean + 1.001 * limit, **changes).inside is False


def test_what_is_not_there_yet_is_empty(report: Report) -> None:
    for changes in ({"metric": "test/avg9_accuracy"}, {"arm": "nobody"}, {"point": {"data.label_noise": 0.77}}):
        row = _one(report, 0.9, **changes)
        assert row.mean is row.difference is row.inside is None
        assert row.n == 0


def test_one_seed_has_a_difference_and_no_answer(study: Study, results: Callable[..., Any]) -> None:
    single = replace(study, confirm_seeds=study.confirm_seeds[:1])
    kept = [
        (run, result)
        for run, result in results(study)
        if run.stage != "confirm" or run.seed == min(study.confirm_seeds)
    ]
    row = _one(build_report(single, kept), 0.9)
    assert row.difference is not None
    assert row.inside is None
