from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from setsweep.sweeps.statistics.unusual import unusual_seeds


def _aggregate(name: str, values: Any) -> Any:
    numbers = dict(enumerate(map(float, values)))
    return SimpleNamespace(candidate=name, numbers=numbers, n=len(numbers))


def test_a_collapsed_seed_is_found_with_its_distance() -> None:
    usual, collapsed = _aggregate("a", [0.90, 0.91, 0.92, 0.93, 0.94]), _aggregate("b", [0.90, 0.91, 0.50, 0.92, 0.93])
    (found,) = unusual_seeds([usual, collapsed])
    # The median is 0.91, and that of 0.01, 0, 0.41, 0.01, 0.02 is 0.01: -0.41 / (1.4826 * 0.01).
    assert (found.candidate, found.seed, found.value, round(found.deviations, 2)) == ("b", 2, 0.5, -27.65)


def test_a_seed_that_is_far_by_a_small_spread_alone_is_not() -> None:
    # The last is 5.4 robust standard deviations off, but t is 8.9 with 3 degrees of freedom: p = 0.003 for each of 5.
    assert unusual_seeds([_aggregate("a", [0.900, 0.901, 0.902, 0.9009, 0.909])]) == []


def test_of_few_or_equal_seeds_nothing_is_said() -> None:
    assert unusual_seeds([_aggregate("a", [0.9, 0.91, 0.1]), _aggregate("b", [1.0] * 9 + [0.5])]) == []


def test_of_normal_values_something_is_said_in_at_most_one_table_of_a_hundred() -> None:
    """False alarm of this test: more than 30 of 1000 at a rate of at most 1 % is below 1e-7."""
    draw = np.random.default_rng(0)
    tables = ([_aggregate(str(c), draw.normal(size=n)) for c in range(4)] for n in (5, 10) for _ in range(500))
    assert sum(bool(unusual_seeds(table)) for table in tables) <= 30
