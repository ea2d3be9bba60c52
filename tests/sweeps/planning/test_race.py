"""The race in thirds: who goes on, what it costs, and that nothing but the results decides."""

from __future__ import annotations

import random
from typing import Any

import pytest

from setsweep.sweeps.planning.race import Rung, run_race, rungs, runs_of


@pytest.mark.parametrize(
    ("trials", "runs"),
    [(12, 38), (18, 48), (30, 74)],  # 12 + 4 x 2 + 3 x 6; 18 + 6 x 2 + 3 x 6; 30 + 10 x 2 + 4 x 6
)
def test_a_race_to_nine_seeds_takes_about_a_third_of_all_runs(trials: int, runs: int) -> None:
    assert runs_of(rungs(trials, 1, 9)) == runs
    assert runs / (9 * trials) < 0.4


@pytest.mark.parametrize(
    ("trials", "seeds", "last", "expected"),
    [
        (12, 1, 9, [(1, 12), (3, 4), (9, 3)]),
        (18, 2, 9, [(2, 18), (6, 6), (9, 3)]),
        (18, 3, 9, [(3, 18), (9, 6)]),  # three times three is the last rung's already
        (18, 1, 2, [(1, 18), (2, 6)]),
        (18, 1, 20, [(1, 18), (3, 6), (20, 3)]),
        (2, 1, 9, [(1, 2), (3, 2), (9, 2)]),  # no more go on than there are
        (100, 1, 9, [(1, 100), (3, 34), (9, 12)]),
        (12, 2, None, [(2, 12)]),
    ],
)
def test_rungs_are_thirds_of_the_trials_and_three_times_the_seeds(
    trials: int, seeds: int, last: int | None, expected: list[tuple[int, int]]
) -> None:
    assert rungs(trials, seeds, last) == tuple(Rung(*rung) for rung in expected)


def test_more_may_go_on_to_the_second_rung() -> None:
    assert rungs(12, 1, 9, 6) == (Rung(1, 12), Rung(3, 6), Rung(9, 3))
    assert rungs(60, 1, 9, 6) == rungs(60, 1, 9)


def _values(means: list[float], seeds: int) -> dict[int, dict[int, float]]:
    return {number: dict.fromkeys(range(seeds), mean) for number, mean in enumerate(means)}


PLAN = (Rung(1, 6), Rung(3, 4), Rung(9, 3))


def test_a_round_waits_for_all_of_its_trials() -> None:
    values = _values([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 1)
    [first, second] = run_race(PLAN, range(9), values)
    assert (first.survivors, first.dropped) == ((5, 4, 3, 2), (1, 0))
    assert (second.means, second.survivors, second.seeds) == ({}, (), (0, 1, 2))
    del values[3]
    [first] = run_race(PLAN, range(9), values)
    assert first.means == {}


def test_the_winner_is_the_best_mean_of_the_last_round_over_all_of_its_seeds() -> None:
    values = _values([0.9, 0.1, 0.5, 0.6, 0.7, 0.2], 9)
    values[0] |= dict.fromkeys(range(1, 9), 0.0)  # the best on the first seed alone
    rounds = run_race(PLAN, range(9), values)
    assert rounds[0].survivors == (0, 4, 3, 2)
    assert rounds[1].survivors == (4, 3, 2)
    assert rounds[1].means[0] == pytest.approx(0.3)
    assert rounds[2].survivors == (4, 3, 2)
    assert set(rounds[2].means) == {2, 3, 4}


def test_of_equals_the_first_trial_goes_on() -> None:
    rounds = run_race(PLAN, range(9), _values([0.5] * 6, 9))
    assert [each.survivors for each in rounds] == [(0, 1, 2, 3), (0, 1, 2), (0, 1, 2)]


def test_the_order_in_which_results_came_changes_nothing() -> None:
    draw = random.Random(0)
    values: dict[int, dict[int, float]] = {n: {s: draw.random() for s in range(9)} for n in range(6)}
    expected = run_race(PLAN, range(9), values)
    for _ in range(20):
        shuffled: Any = draw.sample(sorted(values), 6)
        mixed = {n: {s: values[n][s] for s in draw.sample(range(9), 9)} for n in shuffled}
        assert run_race(PLAN, range(9), mixed) == expected
