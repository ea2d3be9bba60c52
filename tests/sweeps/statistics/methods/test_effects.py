from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.effects import Effect, better_on_a_seed, hedges_g


def sample(n: int, shift: float, seed: int = 0) -> list[float]:
    return (np.random.default_rng(seed).normal(size=n) + shift).tolist()  # type: ignore[no-any-return]


def test_hedges_g_of_a_worked_example() -> None:
    # 1, 2, 3: mean 2, sd 1; J for 2 degrees of freedom is Gamma(1) / Gamma(1/2) = 1 / sqrt(pi).
    assert hedges_g([1.0, 2.0, 3.0], confidence=0.95).value == pytest.approx(2 / math.sqrt(math.pi), rel=1e-12)


def test_hedges_g_is_unbiased() -> None:
    # 10000 samples of 4 about 0.8 sd: sd of g about 0.75, of the mean 0.0075; 5 sd: false alarm below 1e-6.
    # Without the correction the mean is 0.8 / 0.724 = 1.1.
    values = np.random.default_rng(0).normal(0.8, 1, (10000, 4))
    found = [hedges_g(each, confidence=0.95).value for each in values.tolist()]
    assert abs(np.mean(found) - 0.8) < 0.038  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [3, 5, 10, 40])
@pytest.mark.parametrize("shift", [0.0, 0.5, -2.0, 30.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_the_ends_are_what_the_normal_law_and_the_jackknife_leave_open(n: int, shift: float, confidence: float) -> None:
    differences = sample(n, shift)
    found = hedges_g(differences, confidence=confidence)
    low, high = by_jackknife(differences, found, confidence)
    t, rare = stats.ttest_1samp(differences, 0).statistic, (1 - confidence) / 2
    assert found.ci_low is not None
    assert found.ci_high is not None
    below = stats.nct.sf(t, n - 1, found.ci_low * math.sqrt(n))
    above = stats.nct.cdf(t, n - 1, found.ci_high * math.sqrt(n))
    # Each end is that of the normal law, beyond which t is this rare, or that of the jackknife, which lies beyond it,
    # maybe so far that SciPy has no number for it.
    assert below == pytest.approx(rare, abs=1e-9) if found.ci_low < low - 1e-9 else not below > rare + 1e-9
    assert above == pytest.approx(rare, abs=1e-9) if found.ci_high > high + 1e-9 else not above > rare + 1e-9
    sure = 2 * stats.t.sf(abs(t), n - 1) < 1 - confidence  # then the jackknife may not doubt the sign
    assert found.ci_low <= max(low, 0.0 if sure and t > 0 else -math.inf) + 1e-9
    assert found.ci_high >= min(high, 0.0 if sure and t < 0 else math.inf) - 1e-9
    assert sure == (found.ci_low >= 0 or found.ci_high <= 0)


def test_where_one_seed_alone_differs_the_interval_is_that_of_the_normal_law() -> None:
    """The others have no spread, so the jackknife says nothing. g is 1 / 3 / (1 / sqrt(3)) times J = 1 / sqrt(pi)."""
    found = hedges_g([0.0, 0.0, 1.0], confidence=0.95)
    assert found.value == pytest.approx(1 / math.sqrt(3 * math.pi), rel=1e-12)
    assert found.ci_low is not None
    assert stats.nct.sf(1, 2, found.ci_low * math.sqrt(3)) == pytest.approx(0.025, abs=1e-9)


@pytest.mark.parametrize("n", [3, 10])
def test_effects_beyond_any_noise_have_an_interval_too(n: int) -> None:
    # 1e4 sd: the normal part of t is nothing beside it, so mu / sigma = d * sqrt(chi2 / (n - 1)), by chi2's quantiles.
    differences = sample(n, 1e4)
    d = float(np.mean(differences) / np.std(differences, ddof=1))
    found = hedges_g(differences, confidence=0.95)
    low, high = by_jackknife(differences, found, 0.95)
    law = [d * math.sqrt(stats.chi2.ppf(p, n - 1) / (n - 1)) for p in (0.025, 0.975)]
    assert found.ci_low == pytest.approx(max(0.0, min(law[0], low)), rel=1e-6)
    assert found.ci_high == pytest.approx(max(law[1], high), rel=1e-6)
    assert better_on_a_seed(differences, confidence=0.95).value == 1.0


def test_no_difference_on_average_is_an_even_chance() -> None:
    found = better_on_a_seed([-1.0, 0.0, 1.0], confidence=0.95)
    # By the normal law 0.129 to 0.871; Wilson's interval of 1.5 of 3, a tie being half, with z^2 = 3.8415, is
    # 0.5 +- sqrt(3.8415 (0.75 + 0.9604)) / (3 + 3.8415) = 0.5 +- 0.3747.
    assert found.value == pytest.approx(0.5, abs=1e-9)
    assert (found.ci_low, found.ci_high) == pytest.approx((0.1253, 0.8747), abs=1e-4)


def test_the_chance_is_what_the_normal_law_and_the_count_of_seeds_leave_open() -> None:
    # Of these 7 differences 4 are positive. Wilson's interval of 4 of 7 at 90 % ends at 0.2912 and 0.8108.
    differences = [-0.3, -0.1, -0.2, 0.4, 0.9, 1.6, 1.2]
    effect, chance = (f(differences, confidence=0.9) for f in (hedges_g, better_on_a_seed))
    counted = stats.binomtest(4, 7).proportion_ci(0.9, method="wilson")
    assert chance.ci_low == pytest.approx(min(stats.norm.cdf(effect.ci_low), counted.low), abs=1e-12)
    assert chance.ci_high == pytest.approx(max(stats.norm.cdf(effect.ci_high), counted.high), abs=1e-12)
    t = stats.ttest_1samp(differences, 0).statistic
    middle = stats.norm.ppf(chance.value) * math.sqrt(7)
    assert stats.nct.cdf(t, 6, middle) == pytest.approx(0.5, abs=1e-9)


def test_five_of_five_seeds_leave_the_chance_open_however_large_the_difference() -> None:
    assert better_on_a_seed(sample(5, 100.0), confidence=0.95).ci_low == pytest.approx(0.5655, abs=1e-4)


def test_swapping_arm_and_baseline_turns_the_signs() -> None:
    differences = sample(6, 0.7)
    turned = [-each for each in differences]
    one, other = hedges_g(differences, confidence=0.95), hedges_g(turned, confidence=0.95)
    assert (one.value, one.ci_low, one.ci_high) == pytest.approx((-other.value, -other.ci_high, -other.ci_low))  # type: ignore[operator]
    one, other = better_on_a_seed(differences, confidence=0.95), better_on_a_seed(turned, confidence=0.95)
    assert (one.value, one.ci_low) == pytest.approx((1 - other.value, 1 - other.ci_high))  # type: ignore[operator]


def test_the_unit_of_the_values_does_not_matter() -> None:
    differences = sample(6, 0.7)
    one, other = (hedges_g([scale * d for d in differences], confidence=0.95) for scale in (1, 100))
    assert (one.value, one.ci_low, one.ci_high) == pytest.approx((other.value, other.ci_low, other.ci_high))


@pytest.mark.parametrize("n", [3, 5])
def test_both_intervals_cover_at_least_as_often_as_they_say(n: int) -> None:
    # 2000 intervals at 95 %: sd 0.49 %; 5 sd: false alarm below 1e-6.
    samples = np.random.default_rng(1).normal(0.8, 1, (2000, n)).tolist()
    assert covered([hedges_g(each, confidence=0.95) for each in samples], 0.8) > 0.925
    assert covered([better_on_a_seed(each, confidence=0.95) for each in samples], stats.norm.cdf(0.8)) > 0.925


def test_the_interval_of_the_effect_knows_that_tails_may_be_heavy() -> None:
    # Skewed differences, 1 - exponential + 0.8, of 10: 92 % are covered, 78 % by the normal law alone; Student t3: 95
    # and 88 %. 600 intervals: sd 1.1 %, so 5 sd below.
    draw = np.random.default_rng(3)
    skewed, heavy = 1.8 - draw.exponential(size=(600, 10)), 0.8 + draw.standard_t(3, (600, 10)) / math.sqrt(3)
    assert covered([hedges_g(each, confidence=0.95) for each in skewed.tolist()], 0.8) > 0.865
    assert covered([hedges_g(each, confidence=0.95) for each in heavy.tolist()], 0.8) > 0.905


def test_the_interval_of_the_chance_asks_for_no_law() -> None:
    # Skewed differences, 1 - exponential + 0.8, 10 of them: P(better) = 1 - exp(-1.8). 600 intervals: sd 0.9 %, 5 sd
    # below 94 %. By the normal law alone they cover 76 %.
    samples = (1.8 - np.random.default_rng(2).exponential(size=(600, 10))).tolist()
    found = [better_on_a_seed(each, confidence=0.95) for each in samples]
    assert covered(found, 1 - math.exp(-1.8)) > 0.895


def by_jackknife(differences: Sequence[float], found: Effect, confidence: float) -> tuple[float, float]:
    """g less and plus z times the jackknife error of mean / std."""
    assert found.value is not None
    without = [np.delete(differences, number) for number in range(len(differences))]
    ratios = np.array([each.mean() / each.std(ddof=1) for each in without])
    half = stats.norm.isf((1 - confidence) / 2) * math.sqrt((len(differences) - 1) * ratios.var())
    return found.value - half, found.value + half


def covered(found: Sequence[Effect], truth: float) -> float:
    return float(np.mean([each.ci_low <= truth <= each.ci_high for each in found]))  # type: ignore[operator]


@pytest.mark.parametrize("differences", [[], [0.1], [0.1, 0.2], [0.1, 0.1, 0.1, 0.1]])
def test_differences_without_a_t_test_have_no_effect_size(differences: list[float]) -> None:
    for found in (hedges_g(differences, confidence=0.95), better_on_a_seed(differences, confidence=0.95)):
        assert (found.value, found.ci_low, found.ci_high, found.n) == (None, None, None, len(differences))


@pytest.mark.parametrize("function", [hedges_g, better_on_a_seed])
def test_a_confidence_that_is_no_probability_is_refused(function: object) -> None:
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 95"):
        function([0.1, 0.2, 0.3], confidence=95)  # type: ignore[operator]
