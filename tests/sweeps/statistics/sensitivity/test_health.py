from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.statistics.sensitivity.critical import expected_largest
from setsweep.sweeps.statistics.sensitivity.health import more_runs, no_effect


def made(draw: Any, trials: int, seeds: int, between: float, rest: float, *, of_seeds: float = 0.0) -> Any:
    shared = of_seeds * draw.normal(size=seeds)
    return between * draw.normal(size=(trials, 1)) + shared + rest * draw.normal(size=(trials, seeds))


def test_noisy_configurations_need_more_seeds() -> None:
    assert more_runs(made(np.random.default_rng(0), 60, 2, 1, 1.5), confidence=0.95).more == "seeds"


def test_clear_configurations_need_more_trials() -> None:
    found = more_runs(made(np.random.default_rng(0), 8, 3, 1, 0.1), confidence=0.95)
    assert found.more == "trials"
    assert found.reliability > 0.95
    assert found.gain_of_trials > found.gain_of_seeds


def test_configurations_that_cannot_be_told_apart_get_no_advice() -> None:
    found = more_runs(made(np.random.default_rng(0), 10, 3, 0, 1), confidence=0.95)
    assert (found.more, found.p is not None and found.p > 0.05) == ("neither", True)


def test_what_seeds_do_to_all_configurations_alike_does_not_count() -> None:
    calm = more_runs(made(np.random.default_rng(0), 10, 4, 1, 0.5), confidence=0.95)
    moved = more_runs(made(np.random.default_rng(0), 10, 4, 1, 0.5) + np.array([0, 9, -9, 5]), confidence=0.95)
    assert moved.gain_of_seeds == pytest.approx(calm.gain_of_seeds)


def test_the_gains_are_those_of_selection_by_a_noisy_mean() -> None:
    # Residuals of +-1 in a 3 x 2 table with means -2, 0, 2: their mean square is 6 / 2 = 3, that of configurations
    # 2 (4 + 0 + 4) / 2 = 8: between (8 - 3) / 2 = 2.5, reliability 2.5 / (2.5 + 3 / 2) = 0.625, with 4 seeds 10 / 13.
    y = np.array([[-1.0, -3], [1, -1], [1, 3]])
    residual = y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()
    rest = (residual**2).sum() / 2
    between = (2 * y.mean(1).var(ddof=1) - rest) / 2
    found = more_runs(y, confidence=0.05)
    reach = [expected_largest(t) * between / (between + rest / n) ** 0.5 for t, n in ((3, 2), (3, 4), (6, 2))]
    assert found.reliability == pytest.approx(between / (between + rest / 2))
    assert (found.gain_of_seeds, found.gain_of_trials) == pytest.approx((reach[1] - reach[0], reach[2] - reach[0]))


def test_the_gains_come_true() -> None:
    # What the best looking of 10 has more with twice the seeds or trials, over 4000 searches of known components 1 and
    # 1.5: the sd of a mean is 0.012, 5 sd. The advice is made from the true components' expectation.
    draw = np.random.default_rng(0)

    def reached(trials: int, seeds: int) -> float:
        truth = draw.normal(size=(4000, trials))
        looks = truth + 1.5 * draw.normal(size=(4000, trials)) / seeds**0.5
        return float(truth[np.arange(4000), looks.argmax(axis=1)].mean())

    expected = {one: expected_largest(one[0]) / (1 + 2.25 / one[1]) ** 0.5 for one in ((10, 2), (10, 4), (20, 2))}
    assert {one: reached(*one) for one in expected} == pytest.approx(expected, abs=0.06)


def test_one_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="every factor must have 2 levels and 2 seeds without holes at least"):
        more_runs([[0.5], [0.6]], confidence=0.95)


def test_a_hyperparameter_without_effect_is_told_as_often_as_it_should_be(trained: Any, hill: Any) -> None:
    # 600 flat studies: p < 0.05 in 5 %, sd 0.9 %; 5 sd.
    draw = np.random.default_rng(0)
    null = [no_effect(trained(draw, np.full(7, 2.4), 4)) for _ in range(600)]
    assert np.mean(np.array(null) < 0.05) == pytest.approx(0.05, abs=0.045)
    assert no_effect(trained(draw, hill(7), 4)) < 0.01
