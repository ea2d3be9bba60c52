from __future__ import annotations

import pytest
from scipy import stats

from setsweep.sweeps.statistics.methods.proportions import failure_rate, wilson


@pytest.mark.parametrize(("failures", "runs"), [(0, 1), (1, 1), (0, 5), (1, 5), (2, 12), (12, 12), (37, 200)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_rates_equal_those_of_scipy(failures: int, runs: int, confidence: float) -> None:
    expected = stats.binomtest(failures, runs).proportion_ci(confidence, method="exact")
    found = failure_rate(failures, runs, confidence=confidence)
    assert found.rate == failures / runs
    assert found.ci_low == pytest.approx(expected.low, abs=1e-9)
    assert found.ci_high == pytest.approx(expected.high, abs=1e-9)


def test_no_failure_in_five_runs_may_still_be_every_second_run() -> None:
    # (1 - p)^5 = 0.025 at p = 1 - 0.025^(1 / 5) = 0.5218.
    found = failure_rate(0, 5, confidence=0.95)
    assert (found.ci_low, found.ci_high) == (0, pytest.approx(1 - 0.025**0.2, rel=1e-12))


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5])
def test_the_interval_covers_every_rate_with_at_least_its_confidence(rate: float) -> None:
    # Exact, no simulation: the probability of the counts whose interval covers the rate.
    for runs in (1, 5, 12, 40):
        intervals = [failure_rate(failures, runs, confidence=0.95) for failures in range(runs + 1)]
        covered = sum(stats.binom.pmf(i.failures, runs, rate) for i in intervals if i.ci_low <= rate <= i.ci_high)
        assert covered >= 0.95


def test_no_run_has_no_rate() -> None:
    with pytest.raises(ValueError, match="runs must be >= 1, got 0"):
        failure_rate(0, 0, confidence=0.95)


@pytest.mark.parametrize("failures", [-1, 6])
def test_more_failures_than_runs_are_refused(failures: int) -> None:
    with pytest.raises(ValueError, match=f"failures must be between 0 and runs = 5, got {failures}"):
        failure_rate(failures, 5, confidence=0.95)


def test_a_confidence_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, got 95"):
        failure_rate(1, 5, confidence=95)


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (1, 1), (0, 5), (5, 5), (4, 7), (37, 200)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_wilsons_interval_is_that_of_scipy(hits: int, trials: int, confidence: float) -> None:
    expected = stats.binomtest(hits, trials).proportion_ci(confidence, method="wilson")
    assert wilson(hits, trials, confidence=confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)
