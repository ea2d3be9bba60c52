"""Ours beside statsmodels, to 1e-9, on random data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # statsmodels' own, of the libraries that it imports
    from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.proportion import proportion_confint
    from statsmodels.stats.weightstats import DescrStatsW

from setsweep.sweeps.statistics.methods.corrections import Correction, corrected
from setsweep.sweeps.statistics.methods.equivalence import equivalence
from setsweep.sweeps.statistics.methods.images import mcnemar
from setsweep.sweeps.statistics.methods.power import detectable, power
from setsweep.sweeps.statistics.methods.proportions import failure_rate


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
@pytest.mark.parametrize("tests", [1, 2, 9, 100])
def test_corrected_p_values(correction: Correction, tests: int) -> None:
    draw = np.random.default_rng(tests)
    for _ in range(2):  # theirs collects garbage at every call
        p_values = draw.random(tests) ** 3
        expected = multipletests(p_values, method=correction)[1]
        assert corrected(p_values.tolist(), correction) == pytest.approx(expected.tolist(), abs=1e-9)


@pytest.mark.parametrize(("n", "alpha"), [(5, 0.05), (10, 0.05), (30, 0.05), (5, 0.05 / 9), (10, 0.05 / 9)])
def test_power_and_the_smallest_detectable_difference(n: int, alpha: float) -> None:
    theirs = TTestPower()
    assert power(0.7, n, alpha=alpha) == pytest.approx(theirs.power(0.7, n, alpha), abs=1e-9)
    # Their solver is sure to 1e-6 only; so their power at our difference, and their difference to that.
    found = detectable(n, alpha=alpha)
    assert theirs.power(found, n, alpha) == pytest.approx(0.8, abs=1e-9)
    assert found == pytest.approx(theirs.solve_power(nobs=n, alpha=alpha, power=0.8), rel=1e-5)


@pytest.mark.parametrize("n", [3, 8])
def test_equivalence(n: int) -> None:
    draw = np.random.default_rng(n)
    for _ in range(50):
        values = draw.normal(draw.normal(0, 0.3), 0.3, n)
        found = equivalence(values.tolist(), margin=0.4, confidence=0.95)
        assert found.p == pytest.approx(DescrStatsW(values).ttost_mean(-0.4, 0.4)[0], abs=1e-9)


@pytest.mark.parametrize("failures", [0, 1, 7, 20])
def test_failure_rates(failures: int) -> None:
    found = failure_rate(failures, 20, confidence=0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx(
        proportion_confint(failures, 20, alpha=0.05, method="beta"), abs=1e-9
    )


def test_mcnemar() -> None:
    draw = np.random.default_rng(0)
    for _ in range(20):
        ours, theirs = draw.random((2, 100)) < 0.8
        table = [[(ours & theirs).sum(), (ours & ~theirs).sum()], [(~ours & theirs).sum(), (~ours & ~theirs).sum()]]
        found = mcnemar(np.packbits(ours), np.packbits(theirs), images=100)
        assert found.p == pytest.approx(their_mcnemar(table, exact=True).pvalue, abs=1e-9)
