from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from setsweep.sweeps.statistics.sensitivity.curve import Curve, mean_curve, whole_half_width
from setsweep.sweeps.statistics.sensitivity.two_way import fit_two_way


def ends(band: Any) -> tuple[Any, Any]:
    return np.array(band.low, dtype=float), np.array(band.high, dtype=float)


def test_means_and_pointwise_intervals_are_those_of_each_value() -> None:
    curve = mean_curve([[0.5, 0.6, 0.7], [0.8, 0.8, 0.9]], confidence=0.95)
    expected = stats.ttest_1samp([0.5, 0.6, 0.7], 0.0).confidence_interval(0.95)
    assert curve.mean == (pytest.approx(0.6), pytest.approx(2.5 / 3))
    assert (curve.pointwise.low[0], curve.pointwise.high[0]) == pytest.approx((expected.low, expected.high))
    assert curve.n == (3, 3)


def test_pointwise_intervals_end_where_accuracies_do() -> None:
    curve = mean_curve([[0.99, 0.9], [0.01, 0.1]], confidence=0.95)
    assert (curve.pointwise.high[0], curve.pointwise.low[1]) == (1.0, 0.0)


def test_the_shape_band_is_half_of_tukeys_honest_difference_around_the_mean_logit() -> None:
    table = np.random.default_rng(0).uniform(0.8, 0.9, size=(4, 6))
    curve = mean_curve(table, confidence=0.95)
    z = logit(table)
    left = z - z.mean(1, keepdims=True) - z.mean(0) + z.mean()
    half = stats.studentized_range.ppf(0.95, 4, 15) * np.sqrt((left**2).sum() / 15 / 6) / 2
    assert ends(curve.shape)[0].tolist() == pytest.approx(expit(z.mean(1) - half).tolist())
    assert ends(curve.shape)[1].tolist() == pytest.approx(expit(z.mean(1) + half).tolist())
    assert list(curve.centre) == pytest.approx(expit(z.mean(1)).tolist())


def test_shapes_that_do_not_overlap_are_those_tukeys_test_tells_apart(trained: Any) -> None:
    scores = trained(np.random.default_rng(3), [2.0, 2.1, 2.4, 2.5], 5)
    model, curve = fit_two_way(scores), mean_curve(scores, confidence=0.95)
    low, high = ends(curve.shape)
    for g in range(4):
        for h in range(4):
            apart = abs(model.means[g] - model.means[h]) > model.honest_difference(0.95)
            assert apart == bool(low[g] > high[h] or low[h] > high[g])


def test_the_whole_band_is_wider_where_seeds_move_all_values_together(trained: Any, hill: Any) -> None:
    calm = mean_curve(trained(np.random.default_rng(0), hill(9), 5, of_seeds=0.0), confidence=0.95)
    moved = mean_curve(trained(np.random.default_rng(0), hill(9), 5, of_seeds=0.5), confidence=0.95)
    width = [np.mean(ends(curve.whole)[1] - ends(curve.whole)[0]) for curve in (calm, moved)]
    shape = [np.mean(ends(curve.shape)[1] - ends(curve.shape)[0]) for curve in (calm, moved)]
    assert width[1] > 3 * width[0]
    assert shape[1] == pytest.approx(shape[0], rel=0.2)


def test_a_failed_run_is_left_out_of_its_mean_and_its_value_of_the_bands() -> None:
    table = np.random.default_rng(0).uniform(0.8, 0.9, size=(6, 4))
    table[2, 1] = np.nan
    curve = mean_curve(table, confidence=0.95)
    assert curve.n == (4, 4, 3, 4, 4, 4)
    assert curve.mean[2] == pytest.approx(np.nanmean(table[2]))
    assert (curve.whole.low[2], curve.shape.high[2], curve.centre[2]) == (None, None, None)
    assert curve.left_out == ((2,), ())
    others = mean_curve(np.delete(table, 2, axis=0), confidence=0.95)
    assert [one for one in curve.whole.low if one is not None] == list(others.whole.low)


def test_a_value_without_any_run_has_no_mean() -> None:
    curve = mean_curve([[0.5, 0.6], [np.nan, np.nan], [0.7, 0.5]], confidence=0.95)
    assert (curve.mean[1], curve.n[1], curve.pointwise.low[1]) == (None, 0, None)
    assert curve.whole.low[0] is not None


def test_one_seed_has_means_but_no_bands_and_says_why() -> None:
    curve = mean_curve([[0.5], [0.6]], confidence=0.95)
    assert curve.mean == (0.5, 0.6)
    assert (curve.whole.low, curve.shape.high) == ((None, None), (None, None))
    assert curve.undefined == (
        "a two-way table must have 2 values and 2 seeds without holes at least, got 2 values and 1 seeds."
    )


def test_perfect_accuracies_have_finite_bands() -> None:
    curve = mean_curve([[1.0, 1.0, 0.998], [0.99, 1.0, 0.992]], confidence=0.95, examples=500)
    low, high = ends(curve.whole)
    assert ((low > 0) & (high < 1)).all()


def test_percentages_are_refused() -> None:
    with pytest.raises(ValueError, match="accuracies must be between 0 and 1, got 93"):
        mean_curve([[93.0, 94.0], [92.0, 91.0]], confidence=0.95)


def test_computed_twice_it_is_equal(trained: Any, hill: Any) -> None:
    scores = trained(np.random.default_rng(0), hill(9), 5)
    once: Curve = mean_curve(scores, confidence=0.95)
    assert once == mean_curve(scores.copy(), confidence=0.95)


def coverage(trained: Any, mu: Any, seeds: int, studies: int, **spread: Any) -> dict[str, float]:
    """How many made-up studies' bands hold the whole true curve; for `shape`, up to a common shift."""
    draw = np.random.default_rng(1)
    held = {"pointwise": 0, "whole": 0, "shape": 0}
    t = stats.t.ppf(0.975, seeds - 1) / np.sqrt(seeds)
    for _ in range(studies):
        scores = trained(draw, mu, seeds, **spread)
        model = fit_two_way(scores)
        off = model.means - mu
        held["whole"] += bool(np.abs(off).max() <= whole_half_width(model, 0.95))
        held["shape"] += bool(np.ptp(off) <= model.honest_difference(0.95))
        spreads = t * logit(scores).std(axis=1, ddof=1)
        held["pointwise"] += bool((np.abs(off) <= spreads).all())
    return {name: count / studies for name, count in held.items()}


def test_the_bands_cover_the_curve_where_pointwise_intervals_do_not(trained: Any, hill: Any) -> None:
    # 300 studies: sd of a share at 0.955 0.012, so 0.9 is 4.6 sd below: false alarm below 1e-5. Pointwise about 0.73.
    found = coverage(trained, hill(9), 5, 300)
    assert found["whole"] > 0.9
    assert found["shape"] > 0.9
    assert found["pointwise"] < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("values", [9, 21])
@pytest.mark.parametrize("seeds", [5, 10])
def test_the_bands_cover_as_often_as_they_say(trained: Any, hill: Any, values: int, seeds: int) -> None:
    # 4000 studies: sd of a share at 0.95 0.0035; 0.94 and 0.97 are 3 sd and more off 0.95 to 0.96.
    found = coverage(trained, hill(values), seeds, 4000)
    print(f"G = {values}, n = {seeds}:", {name: f"{share:.1%}" for name, share in found.items()})
    assert 0.94 <= found["whole"] <= 0.97
    assert 0.94 <= found["shape"] <= 0.97
    assert 0.5 <= found["pointwise"] <= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("of_seeds", [0.0, 0.05, 0.3])
def test_the_whole_band_covers_whatever_the_seeds_do(trained: Any, hill: Any, of_seeds: float) -> None:
    # 4000 studies, as above.
    found = coverage(trained, hill(9), 5, 4000, of_seeds=of_seeds)
    print(f"sd of seeds {of_seeds}:", {name: f"{share:.1%}" for name, share in found.items()})
    assert 0.94 <= found["whole"] <= 0.975
    assert 0.94 <= found["shape"] <= 0.96
