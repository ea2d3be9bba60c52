from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.anytime import anytime
from setsweep.sweeps.statistics.methods.intervals import paired_difference
from setsweep.sweeps.statistics.methods.looks import overall_p, planned_looks
from setsweep.sweeps.statistics.repeated import looked_at
from setsweep.sweeps.study.parts import Compare

SEEDS = tuple(range(10))
DRAWN = np.random.default_rng(0).normal(0.5, 1.0, 10)
VALUES = {seed: float(value) for seed, value in zip(SEEDS, DRAWN, strict=True)}
NOTHING = dict.fromkeys(SEEDS, 0.0)


def test_one_look_is_the_paired_t_test() -> None:
    settings = Compare(confidence=0.9)
    assert looked_at(VALUES, NOTHING, settings, seeds=SEEDS) == paired_difference(VALUES, NOTHING, confidence=0.9)


def test_planned_looks_hold_together() -> None:
    found = looked_at(VALUES, NOTHING, Compare(looks=(5, 10, 20)), seeds=SEEDS)
    p_values = [
        paired_difference({seed: VALUES[seed] for seed in SEEDS[:n]}, NOTHING, confidence=0.95).p for n in (5, 10)
    ]
    assert None not in p_values
    assert found.p == overall_p(min(p for p in p_values if p is not None), (5, 10, 20))
    level = planned_looks((5, 10, 20), confidence=0.95).confidence
    wide = paired_difference(VALUES, NOTHING, confidence=level)
    assert (found.ci_low, found.ci_high, found.n) == (wide.ci_low, wide.ci_high, 10)


def test_a_failed_seed_makes_looks_smaller() -> None:
    without = {seed: value for seed, value in VALUES.items() if seed != 2}
    found = looked_at(without, NOTHING, Compare(looks=(5, 10)), seeds=SEEDS)
    level = planned_looks((4, 9), confidence=0.95).confidence
    assert found.ci_low == paired_difference(without, NOTHING, confidence=level).ci_low


def test_a_look_that_adds_no_seed_leaves_no_test() -> None:
    without = {seed: value for seed, value in VALUES.items() if seed < 5}
    found = looked_at(without, NOTHING, Compare(looks=(5, 10)), seeds=SEEDS)
    assert (found.p, found.ci_low, found.n) == (None, None, 5)


def test_any_time_is_lais_interval() -> None:
    found = looked_at(VALUES, NOTHING, Compare(looks="anytime"), seeds=SEEDS)
    valid = anytime(list(VALUES.values()), confidence=0.95)
    assert (found.ci_low, found.ci_high, found.p) == (valid.ci_low, valid.ci_high, valid.p)
    assert found.difference == pytest.approx(np.mean(DRAWN))


def test_in_two_stages_the_pilots_spread_decides() -> None:
    found = looked_at(VALUES, NOTHING, Compare(), seeds=SEEDS[:4], pilot=True)
    error = DRAWN[:4].std(ddof=1) / math.sqrt(10)
    assert found.ci_low == pytest.approx(DRAWN.mean() - stats.t.ppf(0.975, 3) * error)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(DRAWN.mean()) / error, 3))
    # That of a pilot which needs no more is the usual one.
    assert looked_at(VALUES, NOTHING, Compare(), seeds=SEEDS, pilot=True) == paired_difference(
        VALUES, NOTHING, confidence=0.95
    )
