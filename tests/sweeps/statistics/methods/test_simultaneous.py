from __future__ import annotations

import math
import random

import pytest

from setsweep.sweeps.statistics.methods.corrections import Correction, corrected
from setsweep.sweeps.statistics.methods.intervals import PairedDifference, paired_difference
from setsweep.sweeps.statistics.methods.simultaneous import SimultaneousInterval, simultaneous_intervals

CORRECTIONS: list[Correction] = ["holm", "bonferroni", "none"]


def difference(mean: float, std: float = 1.0, n: int = 10) -> PairedDifference:
    """A difference with this mean, standard deviation and number of seeds."""
    half = math.sqrt((n - 1) / 2) * std  # two values that far from the mean, the rest on it, have this variance
    values = dict(enumerate([mean - half, mean + half] + [mean] * (n - 2)))
    return paired_difference(values, dict.fromkeys(values, 0.0), confidence=0.95)


def drawn(draw: random.Random, tests: int) -> list[PairedDifference]:
    shift = draw.choice([0.0, 0.5, 1.0])
    return [
        difference(draw.gauss(draw.choice([0, shift, -shift]), 0.4), draw.uniform(0.5, 1.5), draw.randint(3, 12))
        for _ in range(tests)
    ]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_zero_is_outside_exactly_where_the_corrected_p_is_below_alpha(correction: Correction) -> None:
    draw = random.Random(0)
    seen = {True: 0, False: 0}
    for _ in range(300):
        for found in simultaneous_intervals(drawn(draw, 6), correction, confidence=0.95, family=8):
            assert found.p_corrected is not None
            low, high = _ends(found)
            assert found.excludes_zero == (found.p_corrected < 0.05)
            # An end at 0 is open where 0 is excluded.
            assert found.excludes_zero == (low >= 0 or high <= 0)
            seen[found.excludes_zero] += 1
    assert min(seen.values()) > 100


def test_bonferroni_widens_by_the_size_of_the_family() -> None:
    (found,) = simultaneous_intervals([difference(1.0)], "bonferroni", confidence=0.95, family=5)
    # t(1 - 0.05 / 10; 9) = 3.249836 (a table's 0.995 column), over sqrt(10).
    assert found.ci_low == pytest.approx(1 - 3.249836 / math.sqrt(10), abs=1e-6)
    assert found.ci_high == pytest.approx(1 + 3.249836 / math.sqrt(10), abs=1e-6)


def test_without_correction_they_are_the_intervals_of_the_differences() -> None:
    each = difference(0.3)
    (found, _) = simultaneous_intervals([each, difference(2.0)], "none", confidence=0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx((each.ci_low, each.ci_high))
    assert found.p_corrected == pytest.approx(each.p)


def test_holm_has_the_p_values_of_holm() -> None:
    draw = random.Random(1)
    differences = [difference(draw.gauss(0.4, 0.8)) for _ in range(9)]
    found = simultaneous_intervals(differences, "holm", confidence=0.95)
    assert [each.p_corrected for each in found] == pytest.approx(corrected([d.p for d in differences], "holm"))


def test_what_holm_finds_has_its_sign_while_others_are_open() -> None:
    means = (5.0, -6.0, 0.1)
    above, below, small = simultaneous_intervals([difference(mean) for mean in means], "holm", confidence=0.95)
    assert (above.ci_low, above.ci_high, above.excludes_zero) == (0.0, None, True)
    assert (below.ci_low, below.ci_high, below.excludes_zero) == (None, 0.0, True)
    # The small one is the only test left, with all of the error: t(0.975; 9) = 2.262157.
    assert (small.ci_low, small.ci_high) == pytest.approx(
        (0.1 - 2.262157 / math.sqrt(10), 0.1 + 2.262157 / math.sqrt(10)), abs=1e-6
    )


def test_where_all_are_significant_the_ends_say_how_far() -> None:
    found = simultaneous_intervals([difference(5.0), difference(-0.9)], "holm", confidence=0.95)
    # 0.05 shared by two: t(1 - 0.0125; 9) = 2.685011.
    half = 2.685011 / math.sqrt(10)
    assert (found[0].ci_low, found[0].ci_high) == pytest.approx((5 - half, 5 + half), abs=1e-6)
    assert (found[1].ci_low, found[1].ci_high) == pytest.approx((-0.9 - half, -0.9 + half), abs=1e-6)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_swapping_arm_and_baseline_turns_the_intervals(correction: Correction) -> None:
    draw = random.Random(5)
    means = [draw.gauss(0, 1) for _ in range(6)]
    there = simultaneous_intervals([difference(m) for m in means], correction, confidence=0.95)
    back = simultaneous_intervals([difference(-m) for m in means], correction, confidence=0.95)
    for one, other in zip(there, back, strict=True):
        (low, high), (turned_high, turned_low) = _ends(one), _ends(other)
        assert (low, high) == pytest.approx((-turned_low, -turned_high))
        assert one.p_corrected == pytest.approx(other.p_corrected)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_difference_without_a_test_counts_and_has_no_interval(correction: Correction) -> None:
    undefined = paired_difference({0: 1.0, 1: 2.0}, {0: 0.0, 1: 0.0}, confidence=0.95)
    tested, missing = simultaneous_intervals([difference(1.0), undefined], correction, confidence=0.95)
    assert missing == SimultaneousInterval(ci_low=None, ci_high=None, p_corrected=None, excludes_zero=False)
    assert [tested] == simultaneous_intervals([difference(1.0)], correction, confidence=0.95, family=2)


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
@pytest.mark.parametrize("truth", [[0.0] * 6, [4.0] * 3 + [-4.0] * 2 + [0.0], [1.2] * 3 + [0.0] * 3])
def test_all_intervals_cover_together_as_often_as_they_say(correction: Correction, truth: list[float]) -> None:
    # 1000 families at 95 %: sd 0.7 %: false alarm at 91.5 % below 1e-6.
    draw = random.Random(6)
    hits = 0
    for _ in range(1000):
        baseline = {seed: draw.gauss(0, 1) for seed in range(5)}
        arms = [{seed: draw.gauss(t, 1) for seed in range(5)} for t in truth]
        found = [paired_difference(arm, baseline, confidence=0.95) for arm in arms]
        joint = simultaneous_intervals(found, correction, confidence=0.95)
        hits += all(_covers(i, t) for i, t in zip(joint, truth, strict=True))
    assert hits >= 915


def _covers(found: SimultaneousInterval, truth: float) -> bool:
    low, high = _ends(found)
    return low <= truth <= high and not (found.excludes_zero and truth == 0)


def _ends(found: SimultaneousInterval) -> tuple[float, float]:
    """The ends, infinite where the interval has none."""
    assert (found.ci_low, found.ci_high) != (None, None)
    return (
        -math.inf if found.ci_low is None else found.ci_low,
        math.inf if found.ci_high is None else found.ci_high,
    )


def test_a_family_smaller_than_its_differences_is_refused() -> None:
    with pytest.raises(ValueError, match="family must be >= its number of tests = 2, got 1"):
        simultaneous_intervals([difference(1.0), difference(2.0)], "holm", confidence=0.95, family=1)


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(ValueError, match="correction must be holm, bonferroni or none, got 'fdr'"):
        simultaneous_intervals([], "fdr", confidence=0.95)  # type: ignore[arg-type]
