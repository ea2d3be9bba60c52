from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import qmc, sobol_indices, uniform

from setsweep.sweeps.statistics.sensitivity.no_effect import permutation_p
from setsweep.sweeps.statistics.sensitivity.shares.searched import SearchShares, search_shares

NAMES = ["alpha", "epsilon", "margin"]


def peak(x: Any) -> Any:
    """A smooth landscape: a peak in the first, a slope in the second, both interact; the third does nothing."""
    return -3 * (x[:, 0] - 0.7) ** 2 - 0.5 * x[:, 1] + 0.8 * (x[:, 0] - 0.5) * (x[:, 1] - 0.5)


def cliff(x: Any) -> Any:
    """Flat, but for a fall in the low fifth of the first hyperparameter."""
    return 1 / (1 + np.exp(-30 * (x[:, 0] - 0.2))) - 0.3 * (x[:, 1] - 0.6) ** 2


def search(
    surface: Callable[[Any], Any], configurations: int, *, noise_share: float, seeds: int = 1, number: int = 0
) -> tuple[Any, Any, Any, Any]:
    """Positions and scores of a random search, and the true first-order and total shares of a run's variance."""
    draw = np.random.default_rng(number)
    truth = sobol_indices(func=lambda x: surface(x.T), n=2**12, dists=[uniform()] * 3, rng=np.random.default_rng(0))
    variance = surface(qmc.Sobol(3, seed=0).random_base2(12)).var()
    sd = np.sqrt(variance * noise_share / (1 - noise_share))
    x = draw.random((configurations, 3))
    y = surface(x)[:, None] + sd * draw.normal(size=(configurations, seeds))
    return x, 0.8 + 0.05 * y, truth.first_order * (1 - noise_share), truth.total_order * (1 - noise_share)


def values(found: SearchShares) -> tuple[Any, Any]:
    return np.array([row.first.value for row in found.rows]), np.array([row.total.value for row in found.rows])


def test_the_shares_of_a_known_noisy_surface_are_found_with_96_points() -> None:
    # One run in ten of variance is noise. Over 100 such searches the largest error of a share has a median of 0.03 and
    # exceeds 0.05 in one of ten; this one is fixed.
    x, y, first, total = search(peak, 96, noise_share=0.1)
    found = search_shares(x, y, NAMES)
    assert values(found)[0] == pytest.approx(first, abs=0.05)
    assert values(found)[1] == pytest.approx(total, abs=0.05)
    assert found.configurations.value == pytest.approx(0.9, abs=0.05)
    assert [found.matters(name) for name in NAMES] == [True, True, False]
    assert not found.nothing


def test_a_hyperparameter_that_does_nothing_is_as_small_as_the_dummy() -> None:
    x, y, _, _ = search(peak, 96, noise_share=0.3)
    found = search_shares(x, y, NAMES)
    assert found.rows[2].total.value <= found.dummy.total.high < 0.2
    assert not found.matters("margin")


def test_without_noise_the_shares_of_ishigamis_function_are_found_within_one_percent() -> None:
    # 256 points of a Sobol sequence, as a quasi-random search has them; the known shares are 0.314, 0.442, 0 and 0.558,
    # 0.442, 0.244 (Ishigami and Homma 1990).
    x = qmc.Sobol(3, seed=0).random_base2(8)
    z = np.pi * (2 * x - 1)
    y = np.sin(z[:, 0]) + 7 * np.sin(z[:, 1]) ** 2 + 0.1 * z[:, 2] ** 4 * np.sin(z[:, 0])
    found = search_shares(x, y, NAMES)
    assert values(found)[0] == pytest.approx([0.3139, 0.4424, 0], abs=0.01)
    assert values(found)[1] == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.01)


@pytest.mark.parametrize("seeds", [1, 3])
def test_pure_noise_says_nothing(seeds: int) -> None:
    # The false-alarm rate of one search is 5 %; these three are fixed.
    for number in range(3):
        draw = np.random.default_rng(number)
        found = search_shares(draw.random((40, 3)), 0.9 + 0.01 * draw.normal(size=(40, seeds)), NAMES)
        assert found.nothing
        assert found.p > 0.05
        assert not any(found.matters(name) for name in NAMES)
        assert all(row.total.low == row.first.low == 0 for row in found.rows)
        assert found.configurations.low == 0


def test_with_common_seeds_the_noise_is_told_apart_into_seed_and_rest() -> None:
    # Components: seed 1, rest 1, configurations 2: shares 0.25, 0.25, 0.5. 6 seeds: the seed's own is known poorly
    # (sd of a variance on 5 degrees of freedom 63 %), so that it is only asked to lie between 0.05 and 0.6.
    draw = np.random.default_rng(0)
    x, y, _, _ = search(peak, 96, noise_share=0.0, seeds=6)
    sd = y[:, 0].std() / 2**0.5
    y = y + sd * draw.normal(size=6) + sd * draw.normal(size=y.shape)
    found = search_shares(x, y, NAMES)
    assert found.seed is not None
    assert found.rest is not None
    assert 0.05 < found.seed < 0.6
    assert found.seed + found.rest + found.configurations.value == pytest.approx(1)


def test_seeds_that_only_some_configurations_have_do_not_count_as_common() -> None:
    x, y, _, _ = search(peak, 48, noise_share=0.3, seeds=3)
    y[10:, 1:] = np.nan
    assert search_shares(x, y, NAMES).seed is None


def test_configurations_without_a_score_are_left_out_and_named() -> None:
    x, y, _, _ = search(peak, 40, noise_share=0.3)
    y[[3, 7]] = np.nan
    found = search_shares(x, y, NAMES)
    assert (found.left_out, found.points) == ((3, 7), 38)
    assert found.rows == search_shares(np.delete(x, [3, 7], 0), np.delete(y, [3, 7], 0), NAMES).rows


def test_scores_that_are_all_equal_say_nothing() -> None:
    found = search_shares(np.random.default_rng(0).random((20, 3)), np.full(20, 0.5), NAMES)
    assert (found.nothing, found.variance, found.p) == (True, 0.0, 1.0)


def test_many_configurations_are_thinned_out() -> None:
    x, y, _, total = search(peak, 400, noise_share=0.3)
    found = search_shares(x, y, NAMES)
    assert found.points == 256
    assert values(found)[1] == pytest.approx(total, abs=0.12)


def test_computed_twice_they_are_equal() -> None:
    x, y, _, _ = search(peak, 30, noise_share=0.3)
    assert search_shares(x, y, NAMES) == search_shares(x.copy(), y.copy(), NAMES)


@pytest.mark.parametrize(
    ("positions", "scores", "confidence", "rule"),
    [
        ((20, 2), (20,), 0.95, r"positions must be finite numbers of shape \(20, 3\), got shape \(20, 2\)"),
        ((11, 3), (11,), 0.95, "shares of a search must rest on 12 configurations at least, got 11"),
        ((20, 3), (20,), 95, "confidence must be between 0 and 1, got 95"),
    ],
)
def test_what_is_no_search_is_refused(positions: Any, scores: Any, confidence: float, rule: str) -> None:
    draw = np.random.default_rng(0)
    with pytest.raises(ValueError, match=rule):
        search_shares(draw.random(positions), draw.random(scores), NAMES, confidence=confidence)


def test_the_permutation_test_keeps_its_level_and_sees_an_effect() -> None:
    # 300 searches of noise: p <= 0.05 in 5 %, sd 1.3 %; 0.12 is 5.5 sd above. The noise is far from normal.
    draw = np.random.default_rng(0)
    null = [permutation_p(draw.random((24, 3)), draw.exponential(size=24) ** 2, draws=99) for _ in range(300)]
    assert 0.005 < np.mean(np.array(null) <= 0.05) < 0.12
    x, y, _, _ = search(peak, 48, noise_share=0.5)
    assert permutation_p(x, y[:, 0]) <= 0.01


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("noise_share", "seeds"), [(0.1, 1), (0.5, 1), (0.5, 3)])
@pytest.mark.parametrize("surface", [peak, cliff])
def test_intervals_of_shares_cover_about_as_often_as_they_say(surface: Any, noise_share: float, seeds: int) -> None:
    # 100 searches: sd of a share at 0.95 2.2 %; 0.85 is 4.6 sd below. The jackknife is not exact: it does not know that
    # a smooth surface is a little off beside a cliff, which shows where there is little noise (0.65 for a small share).
    errors, hits = [], []
    for number in range(100):
        x, y, first, total = search(surface, 96, noise_share=noise_share, seeds=seeds, number=number)
        found = search_shares(x, y, NAMES)
        truth = np.concatenate([first, total])
        estimates = [*(row.first for row in found.rows), *(row.total for row in found.rows)]
        hits.append([one.low - 1e-4 <= t <= one.high for one, t in zip(estimates, truth, strict=True)])
        errors.append(np.abs(np.array([one.value for one in estimates]) - truth).max())
    covered, error = np.mean(hits, axis=0), np.quantile(errors, [0.5, 0.9])
    print(
        f"{surface.__name__}, noise {noise_share}, {seeds} seeds: covered {covered.round(2)}, errors {error.round(3)}"
    )
    assert covered.min() >= 0.85 or (surface is cliff and noise_share == 0.1)
    assert error[1] <= 0.05 or noise_share > 0.1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_pure_noise_says_nothing_in_as_many_searches_as_it_should() -> None:
    # 200 searches of 48 points: nothing in 95 %, sd 1.5 %; 5 sd.
    draw = np.random.default_rng(0)
    found = [search_shares(draw.random((48, 3)), draw.normal(size=48), NAMES) for _ in range(200)]
    shares = [max(row.total.value for row in one.rows) for one in found]
    print(f"nothing: {np.mean([one.nothing for one in found]):.1%}, largest share", np.quantile(shares, [0.5, 0.9]))
    assert np.mean([one.nothing for one in found]) > 0.875
    assert np.mean([any(one.matters(name) for name in NAMES) for one in found]) < 0.05
