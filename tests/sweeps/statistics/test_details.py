"""What is told of a contrast beside its p: each number by the method it is of, and none where there is no t test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.statistics.contrasts import Contrast
from setsweep.sweeps.statistics.details import Details, Found, details_of, first_level
from setsweep.sweeps.statistics.methods.intervals import paired_difference
from setsweep.sweeps.statistics.methods.power import detectable
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Arm, Study

SETTINGS: dict[str, Any] = {"data": {"name": "digits"}, "model": {"name": "linear"}, "training": {}, "k": (2,)}
ARMS = {name: Arm(name=name, loss="cross_entropy") for name in ("a", "b")}
DIFFERENCES = [0.004, 0.006, 0.005, 0.007, 0.003]  # mean 0.005, standard deviation sqrt(2.5e-6)


def _study(**changes: Any) -> Study:
    return Study(
        name="s", arms=ARMS, compare=Compare(baseline="b", metrics=("test/avg2_accuracy",), **changes), **SETTINGS
    )


def _found(differences: Sequence[float] = DIFFERENCES, metric: str = "test/avg2_accuracy") -> Found:
    values, baseline = dict(enumerate(differences)), dict.fromkeys(range(len(differences)), 0.0)
    contrast = Contrast(arm="a", baseline="b", point={}, metric=metric, primary=True)
    return Found(contrast, values, baseline, paired_difference(values, baseline, confidence=0.95))


def _one(differences: Sequence[float] = DIFFERENCES, **changes: Any) -> Details:
    [details] = details_of([_found(differences)], _study(**changes))
    return details


def test_the_effect_is_the_mean_in_standard_deviations_less_the_bias_of_small_samples() -> None:
    """0.005 / sqrt(2.5e-6) = 3.162, times Hedges' factor of 4 degrees, gamma(2) / (sqrt(2) gamma(1.5)) = 0.7979."""
    assert _one().effect == pytest.approx(0.005 / math.sqrt(2.5e-6) * 0.79788, rel=1e-4)


def test_what_could_have_been_seen_is_in_the_unit_of_the_differences() -> None:
    assert _one().detectable == pytest.approx(math.sqrt(2.5e-6) * detectable(5, alpha=0.05))


def test_a_larger_family_could_have_seen_larger_differences_alone() -> None:
    alone, among = _one(), details_of([_found(), _found()], _study())[0]
    assert alone.detectable is not None
    assert among.detectable == pytest.approx(math.sqrt(2.5e-6) * detectable(5, alpha=0.025))
    assert among.detectable > alone.detectable


@pytest.mark.parametrize(("correction", "level"), [("holm", 0.0125), ("bonferroni", 0.0125), ("none", 0.05)])
def test_the_level_of_the_first_step_is_shared_by_the_family(correction: Any, level: float) -> None:
    settings = Compare(baseline="b", metrics=("test/avg2_accuracy",), correction=correction)
    assert first_level(settings, 4) == pytest.approx(level)
    assert first_level(settings, 0) == pytest.approx(0.05)


def test_differences_that_are_all_equal_have_nothing() -> None:
    details = _one([0.005] * 5, equivalent=1.0)
    assert details.effect is details.better is details.detectable is details.p_equivalent is None
    assert details.equivalent is False, "no claim is made without a test"


def test_equivalence_is_told_where_the_study_has_a_margin_in_points() -> None:
    """0.5 points below a margin of 1, 0.005 / sqrt(2.5e-6 / 5) = 7.07 standard errors: P(t_4 > 7.07) = 0.00105."""
    assert _one().equivalent is None
    near = _one(equivalent=1.0)
    assert near.p_equivalent == pytest.approx(0.00105, abs=2e-5)
    assert near.equivalent is True
    assert _one(equivalent=0.5).equivalent is False, "the mean lies at that margin: p is 0.5"


def test_a_margin_of_set_sizes_is_in_classes_and_not_in_points() -> None:
    sizes = [40 * each for each in DIFFERENCES]
    [details] = details_of([_found(sizes, "test/avg2_set_size")], _study(equivalent=0.4))
    assert details.equivalent is True


def test_claims_of_equivalence_are_corrected_together() -> None:
    one, two = _one(equivalent=1.0), details_of([_found(), _found()], _study(equivalent=1.0))[0]
    assert one.p_equivalent is not None
    assert two.p_equivalent == pytest.approx(2 * one.p_equivalent)


def test_looking_more_than_once_has_no_simultaneous_interval_and_no_power() -> None:
    once, several = _one(), _one(looks=(5, 10))
    assert once.simultaneous_low is not None
    assert several.simultaneous_low is several.simultaneous_high is several.detectable is None
    assert several.effect == once.effect
    assert replace(several, effect=None) != several
