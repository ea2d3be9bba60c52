from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.sensitivity.everywhere import Everywhere, Regret, regret_everywhere


def at_points(draw: Any, mu: Any, seeds: int, *, of_seeds: float = 0.012, rest: Any = 0.01) -> Any:
    """(points, values, seeds) scores with these means; every point has seeds of its own making."""
    mu = np.asarray(mu, dtype=float)
    shared = of_seeds * draw.normal(size=(len(mu), 1, seeds))
    return mu[:, :, None] + shared + np.reshape(rest, (-1, 1)) * draw.normal(size=(*mu.shape, seeds))


# Each point has its best value, the middle one is nearly as good at both.
APART = [[0.90, 0.89, 0.80], [0.80, 0.89, 0.90]]


def cell(found: Everywhere, row: int, column: int) -> Regret:
    one = found.matrix()[row][column]
    assert one is not None
    return one


def test_the_regret_of_a_value_is_what_the_best_has_over_it() -> None:
    found = regret_everywhere(at_points(np.random.default_rng(0), APART, 5, rest=0.001), confidence=0.95)
    assert found.chosen == (0, 2)
    assert cell(found, 0, 0).mean == 0
    assert cell(found, 0, 1).mean == pytest.approx(0.1, abs=0.003)  # sd 0.001 sqrt(2 / 5)
    assert found.regrets[1][0] is not None
    assert found.regrets[1][0].mean == pytest.approx(0.01, abs=0.003)


def test_a_row_is_the_value_chosen_there_and_a_column_where_it_is_used() -> None:
    scores = at_points(np.random.default_rng(0), [[0.9, 0.8], [0.7, 0.9]], 5, rest=0.001)
    found = regret_everywhere(scores, confidence=0.95)
    assert cell(found, 0, 1).mean == pytest.approx(0.2, abs=0.003)
    assert cell(found, 1, 0).mean == pytest.approx(0.1, abs=0.003)


def test_the_compromise_has_the_least_largest_regret() -> None:
    found = regret_everywhere(at_points(np.random.default_rng(0), APART, 5, rest=0.001), confidence=0.95)
    assert found.compromise == 1
    assert found.serving == ()


def test_a_value_that_may_be_best_at_every_point_serves_everywhere() -> None:
    scores = at_points(np.random.default_rng(0), [[0.9, 0.8, 0.7], [0.9, 0.7, 0.8]], 5)
    found = regret_everywhere(scores, confidence=0.95)
    assert found.serving == (0,)
    assert found.compromise == 0


def test_differences_are_paired_so_that_seeds_that_move_all_values_do_not_count() -> None:
    # The seeds move everything by 20 points, the values apart from that by 0.1.
    found = regret_everywhere(at_points(np.random.default_rng(0), APART, 5, of_seeds=0.2, rest=0.001), confidence=0.95)
    one = cell(found, 0, 1)
    assert one.low is not None
    assert one.high is not None
    assert 0.097 < one.low < one.high < 0.103


def test_of_two_values_the_upper_end_is_a_one_sided_bound_with_the_borrowed_variance() -> None:
    # G = 2: the pooled variance of a difference is SS / (n - 1) itself, so v = SS (4 / 4 + 1) / (4 + 4) at n = 5.
    differences = np.array([0.01, 0.02, 0.03, 0.02, 0.02])
    scores = np.stack([np.stack([differences, np.zeros(5)])] * 2)
    found = regret_everywhere(scores, confidence=0.95)
    squares = ((differences - differences.mean()) ** 2).sum()
    half = stats.t.ppf(0.95, 8) * np.sqrt((4 * squares / 4 + squares) / 8 / 5)
    assert found.regrets[1][0] is not None
    assert found.regrets[1][0].high == pytest.approx(differences.mean() + half)


def test_the_choice_may_come_from_elsewhere() -> None:
    scores = at_points(np.random.default_rng(0), APART, 5, rest=0.001)
    found = regret_everywhere(scores, confidence=0.95, chosen=[1, None])
    assert cell(found, 0, 1).mean == pytest.approx(0.01, abs=0.003)
    assert found.matrix()[1] == (None, None)


def test_a_value_that_lacks_a_run_at_a_point_is_left_out_there() -> None:
    scores = at_points(np.random.default_rng(0), APART, 2, rest=0.001)
    scores[0, 0, 1] = np.nan
    found = regret_everywhere(scores, confidence=0.95)
    assert found.chosen == (1, 2)
    assert found.regrets[0][0] is None
    assert found.regrets[0][1] is not None
    assert found.compromise == 1


def test_a_point_without_runs_has_no_choice() -> None:
    scores = at_points(np.random.default_rng(0), APART, 5)
    scores[1] = np.nan
    found = regret_everywhere(scores, confidence=0.95)
    assert found.chosen == (0, None)
    assert found.compromise is None


def test_one_seed_has_regrets_without_intervals() -> None:
    found = regret_everywhere(np.array(APART)[:, :, None], confidence=0.95)
    assert cell(found, 0, 1) == Regret(mean=pytest.approx(0.1), low=None, high=None)
    assert found.serving == ()


def test_computed_twice_it_is_equal() -> None:
    scores = at_points(np.random.default_rng(0), APART, 5)
    assert regret_everywhere(scores, confidence=0.95) == regret_everywhere(scores, confidence=0.95)


@pytest.mark.parametrize(
    ("scores", "options", "rule"),
    [
        (np.zeros((1, 3, 2)), {}, "there must be 2 points of the grid and 2 values at least, got 1 and 3"),
        (np.zeros((2, 3, 2)), {"chosen": [0]}, r"chosen must be 2 indices between 0 and 2, got \[0\]"),
        (np.zeros((2, 3, 2)), {"chosen": [0, 3]}, r"chosen must be 2 indices between 0 and 2, got \[0, 3\]"),
        (np.zeros((2, 3, 2)), {"confidence": 95}, "confidence must be between 0 and 1, got 95"),
    ],
)
def test_what_is_no_comparison_is_refused(scores: Any, options: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        regret_everywhere(scores, **{"confidence": 0.95, **options})


CENTRES = np.array([0.2, 0.5, 0.8])
SURFACES = {
    "flat": np.zeros((3, 9)),
    "weak": -0.05 * (np.linspace(0, 1, 9) - np.array([0.4, 0.5, 0.6])[:, None]) ** 2,
    "curved": -0.2 * (np.linspace(0, 1, 9) - CENTRES[:, None]) ** 2,
}


def coverage(mu: Any, seeds: int, studies: int, rest: Any = 0.01) -> float:
    """The share of the cells off the diagonal whose interval holds the true regret of the value chosen in the row."""
    draw, hits = np.random.default_rng(3), []
    for _ in range(studies):
        found = regret_everywhere(0.9 + at_points(draw, mu, seeds, rest=rest), confidence=0.95)
        for row, value in enumerate(found.chosen):
            for column in range(len(mu)):
                one = cell(found, row, column)
                truth = mu[column].max() - mu[column][value]
                assert one.low is not None
                assert one.high is not None
                hits += [one.low - 1e-12 <= truth <= one.high + 1e-12] if row != column else []
    return float(np.mean(hits))


def test_intervals_hold_the_true_regret() -> None:
    # 150 studies of 6 cells: sd of a share at 0.95 at most 1.8 %; 0.88 is 4 sd below: false alarm below 1e-4.
    assert coverage(SURFACES["flat"], 5, 150) > 0.88


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [5, 10])
@pytest.mark.parametrize("surface", SURFACES)
def test_intervals_hold_the_true_regret_as_often_as_they_say(surface: str, seeds: int) -> None:
    # 2000 studies: sd at most 0.5 %.
    found = coverage(SURFACES[surface], seeds, 2000)
    print(f"{surface}, n = {seeds}: {found:.1%}")
    assert 0.93 <= found <= 0.99


@pytest.mark.slow
def test_intervals_hold_the_true_regret_where_values_do_not_spread_alike() -> None:
    found = coverage(SURFACES["curved"], 5, 2000, rest=np.linspace(0.003, 0.02, 9))
    print(f"unequal spreads: {found:.1%}")
    assert 0.93 <= found <= 0.99
