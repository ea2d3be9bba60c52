from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from setsweep.sweeps.statistics.methods.corrections import Correction, corrected, gatekept

CORRECTIONS: list[Correction] = ["holm", "bonferroni", "none"]


def test_holm_of_a_worked_example_is_the_textbooks() -> None:
    # sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 raised to 0.06 to keep the order.
    assert corrected([0.01, 0.04, 0.03, 0.005], "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bonferroni_multiplies_by_the_number_of_tests_and_stops_at_1() -> None:
    assert corrected([0.01, 0.5, 0.03], "bonferroni") == pytest.approx([0.03, 1.0, 0.09])


def test_no_correction_leaves_p_values_as_they_are() -> None:
    assert corrected([0.5, 0.01], "none", family=9) == [0.5, 0.01]


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_p_value_counts_as_1_and_stays_missing(correction: Correction, missing: float | None) -> None:
    as_one = corrected([1.0, 0.01, 1.0, 0.02], correction)
    assert corrected([missing, 0.01, missing, 0.02], correction) == [None, as_one[1], None, as_one[3]]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_tests_that_the_family_has_beside_those_given_count_as_1(correction: Correction) -> None:
    assert corrected([0.01, 0.02], correction, family=5) == corrected([0.01, 0.02, 1, 1, 1], correction)[:2]


def test_a_larger_family_never_makes_a_p_value_smaller() -> None:
    draw = random.Random(3)
    p_values = [draw.random() ** 4 for _ in range(20)]
    for correction in CORRECTIONS:
        sizes = [corrected(p_values, correction, family=size) for size in (20, 25, 100)]
        assert all(a <= b for small, large in pairwise(sizes) for a, b in zip(small, large, strict=True))  # type: ignore[operator]


def test_holm_is_between_none_and_bonferroni_and_keeps_the_order() -> None:
    draw = random.Random(2)
    p_values = [draw.random() ** 4 for _ in range(30)]
    holm, bonferroni = corrected(p_values, "holm"), corrected(p_values, "bonferroni")
    assert all(p <= h <= b for p, h, b in zip(p_values, holm, bonferroni, strict=True) if h and b)
    assert sorted(range(30), key=lambda i: (holm[i], p_values[i])) == sorted(range(30), key=lambda i: p_values[i])


def test_an_empty_family_has_no_p_values() -> None:
    assert corrected([], "holm") == []


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(ValueError, match="correction must be holm, bonferroni or none, got 'fdr'"):
        corrected([0.1], "fdr")  # type: ignore[arg-type]


def test_a_family_smaller_than_its_p_values_is_refused() -> None:
    with pytest.raises(ValueError, match="family must be >= its number of tests = 3, got 2"):
        corrected([0.1, None, 0.2], "holm", family=2)


@pytest.mark.parametrize("p", [-0.01, 1.5])
def test_a_p_value_that_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=f"a p-value must be between 0 and 1, got {p}"):
        corrected([p], "holm")


def test_other_metrics_are_tested_only_where_the_primary_is_significant() -> None:
    primary = {"a": 0.001, "b": 0.2, "c": None}
    secondary = {("a", "top1"): 0.004, ("b", "top1"): 0.0001, ("c", "top1"): 0.0001}
    found = gatekept(primary, secondary, "holm", confidence=0.95)
    assert {place: v.significant for place, v in found.primary.items()} == {"a": True, "b": False, "c": False}
    assert {place: v.role for (place, _), v in found.secondary.items()} == {
        "a": "secondary",
        "b": "exploratory",
        "c": "exploratory",
    }
    assert found.secondary["b", "top1"].p_corrected is None
    assert not found.secondary["b", "top1"].significant
    assert found.primary["c"].p_corrected is None


def test_the_primary_family_is_that_of_all_places_and_the_secondary_that_of_all_its_tests() -> None:
    primary = {"a": 0.001, "b": 0.2, "c": None}
    secondary = {(place, metric): 0.004 for place in primary for metric in ("top1", "top2")}
    found = gatekept(primary, secondary, "holm", confidence=0.95)
    # 3 places: 0.001 * 3. Six secondary tests, of which the two at a count: 0.004 * 6, and 0.004 * 5 raised to that.
    assert found.primary["a"].p_corrected == pytest.approx(0.003)
    assert [found.secondary["a", metric].p_corrected for metric in ("top1", "top2")] == pytest.approx([0.024, 0.024])
    assert found.secondary["a", "top1"].significant


def test_a_significant_primary_does_not_make_its_secondary_significant() -> None:
    found = gatekept({"a": 0.001}, {("a", "top1"): 0.5}, "holm", confidence=0.95)
    assert (found.secondary["a", "top1"].role, found.secondary["a", "top1"].significant) == ("secondary", False)


@pytest.mark.parametrize("power", [0.02, 0.3, 1.0])
def test_each_family_errs_in_at_most_5_percent_whatever_the_power_of_the_primary(power: float) -> None:
    # The secondary tests have no difference and the same p as the primary's noise, the worst dependence there is.
    # 2000 families at 5 % have a sd of 0.5 %: false alarm at 7.5 % below 1e-6.
    draw = random.Random(4)
    errors = 0
    for _ in range(2000):
        noise = [draw.random() for _ in range(9)]
        primary = {place: p * (0.001 if draw.random() < power else 1) for place, p in enumerate(noise)}
        secondary = {(place, "top1"): p for place, p in enumerate(noise)}
        found = gatekept(primary, secondary, "holm", confidence=0.95)
        errors += any(v.significant for v in found.secondary.values())
    assert errors <= 0.075 * 2000


def test_a_secondary_test_without_a_primary_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"a secondary test must be at a place of the primary metric, got \('b', 'top1'\)"
    ):
        gatekept({"a": 0.1}, {("b", "top1"): 0.1}, "holm", confidence=0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 5.0])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=f"confidence must be between 0 and 1, got {confidence}"):
        gatekept({"a": 0.1}, {}, "holm", confidence=confidence)
