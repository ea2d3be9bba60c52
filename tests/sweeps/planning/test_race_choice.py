"""The race's choice is as good as that of all seeds for all, at two fifths of the runs: the benchmark's short form."""

from __future__ import annotations

import numpy as np

from setsweep.sweeps.planning.race import run_race, rungs, runs_of

TRIALS, SEEDS, ROUNDS = 12, 9, 1000
GOOD = 0.0025


def test_a_race_chooses_within_a_quarter_point_of_the_best_as_often_as_all_seeds_do() -> None:
    """A noisy bowl: 12 random configurations, sd of 0.6 points, 70 % of its variance the seeds' own.

    The seeded draw is the same each time. Over other seeds the shares differ by 0.1 % with a standard error of 0.15 %,
    so that a difference beyond 1 % comes less than once in a million times.
    """
    draw = np.random.default_rng(0)
    plan = rungs(TRIALS, 1, SEEDS)
    raced = all_seeds = 0
    for _ in range(ROUNDS):
        means = 0.9 - 0.1 * ((draw.random((TRIALS, 2)) - [0.62, 0.37]) ** 2).sum(1)
        own = draw.standard_normal((TRIALS, SEEDS)) * np.sqrt(0.3) + draw.standard_normal((1, SEEDS)) * np.sqrt(0.7)
        values = means[:, None] + 0.006 * own
        rounds = run_race(plan, range(SEEDS), {n: dict(enumerate(row)) for n, row in enumerate(values.tolist())})
        raced += means.max() - means[rounds[-1].survivors[0]] <= GOOD
        all_seeds += means.max() - means[values.mean(1).argmax()] <= GOOD
    assert runs_of(plan) / (TRIALS * SEEDS) < 0.4
    assert all_seeds / ROUNDS > 0.9, "or else there is nothing to choose"
    assert raced / ROUNDS > all_seeds / ROUNDS - 0.01
