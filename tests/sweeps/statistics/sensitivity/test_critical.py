from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.sensitivity.critical import (
    against_one,
    around_all,
    expected_largest,
    student,
    studentised_range,
)


def test_students_quantile_is_the_textbooks() -> None:
    assert student(0.975, 4) == pytest.approx(2.776445, abs=1e-6)


def test_the_studentised_range_is_the_textbooks() -> None:
    # Tables of the studentised range, 5 %: 3 groups and 10 degrees of freedom 3.88, 5 and 20 4.23.
    assert studentised_range(0.95, 3, 10) == pytest.approx(3.88, abs=0.005)
    assert studentised_range(0.95, 5, 20) == pytest.approx(4.23, abs=0.005)


def test_the_comparison_with_one_is_dunnetts() -> None:
    # Dunnett 1955, table 1a, one-sided 5 %: 4 treatments and 20 degrees of freedom 2.30, 2 and 10 2.15; one is t.
    assert against_one(0.95, 5, 20) == pytest.approx(2.30, abs=0.006)
    assert against_one(0.95, 3, 10) == pytest.approx(2.15, abs=0.006)
    assert against_one(0.95, 2, 7) == pytest.approx(stats.t.ppf(0.95, 7), abs=1e-5)


@pytest.mark.parametrize(("groups", "seeds", "ratio"), [(9, 5, 0.3), (9, 5, 20.0), (3, 3, 5.0), (21, 10, 3.0)])
def test_the_band_around_all_has_the_probability_it_is_defined_by(groups: int, seeds: int, ratio: float) -> None:
    # 100,000 draws of what it is the quantile of: sd of the share 0.0007; 0.004 is 5 sd and the quadrature's error.
    draw = np.random.default_rng(0)
    degrees, count = (groups - 1) * (seeds - 1), 100_000
    sigma = np.sqrt(degrees / draw.chisquare(degrees, count))
    both = ratio * (seeds - 1) / draw.chisquare(seeds - 1, count)
    shared = np.sqrt(np.maximum(both - sigma**2, 0) / groups) * draw.normal(size=count)
    largest = np.zeros(count)
    for _ in range(groups):
        largest = np.maximum(largest, np.abs(shared + sigma * draw.normal(size=count)))
    assert (largest <= around_all(0.95, ratio, groups, seeds)).mean() == pytest.approx(0.95, abs=0.004)


def test_a_band_is_students_where_the_seeds_are_all_there_is() -> None:
    # Then all values move as one, by a mean of n values with variance F s^2 / (G n): t sqrt(F / G). The quadrature is
    # least exact in this limit: 1.2 % of the width, which is 0.1 % of coverage.
    assert around_all(0.95, 1e6, 9, 5) == pytest.approx(2.776445 * np.sqrt(1e6 / 9), rel=0.015)


def test_the_expected_largest_of_normal_values_is_the_textbooks() -> None:
    # 1 / sqrt(pi) of two, 3 / (2 sqrt(pi)) of three; Harter 1961: 1.53875 of ten.
    assert expected_largest(1) == pytest.approx(0, abs=1e-9)
    assert expected_largest(2) == pytest.approx(np.pi**-0.5, abs=1e-9)
    assert expected_largest(3) == pytest.approx(1.5 * np.pi**-0.5, abs=1e-9)
    assert expected_largest(10) == pytest.approx(1.53875, abs=1e-5)
