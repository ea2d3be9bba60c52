from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from setsweep.sweeps.statistics.methods.images import crossed_bootstrap, crossed_interval, mcnemar

Hits = dict[int, NDArray[np.uint8]]


def pack(hits: Any) -> NDArray[np.uint8]:
    return np.packbits(np.asarray(hits, dtype=bool))


def runs(
    draw: np.random.Generator, n: int, images: int, seeds: float = 0.1, of_images: float = 0.5
) -> tuple[Hits, Hits]:
    """Hits of an arm and a baseline that are equally good on average."""
    easy = draw.normal(1.0, 2.0, images)
    gain = np.stack([of_images * draw.normal(size=images), np.zeros(images)])
    logits = easy + gain[:, None] + seeds * draw.normal(size=(2, n, 1)) + 0.7 * draw.normal(size=(2, n, images))
    packed = np.packbits(draw.random((2, n, images)) < 1 / (1 + np.exp(-logits)), axis=-1)
    return dict(enumerate(packed[0])), dict(enumerate(packed[1]))


def matrix(arm: Hits, baseline: Hits, images: int) -> NDArray[np.float64]:
    ours, theirs = (np.unpackbits(np.stack(list(each.values())), axis=1, count=images) for each in (arm, baseline))
    return ours.astype(float) - theirs


def test_mcnemar_of_a_worked_example() -> None:
    # Only the model hits 5 images, only the baseline 1: 2 * (1 + 6) / 2^6.
    ours, theirs = pack([1] * 5 + [0] + [1] * 10), pack([0] * 5 + [1] + [1] * 10)
    found = mcnemar(ours, theirs, images=16)
    assert (found.better, found.worse, found.difference) == (5, 1, 4 / 16)
    assert found.p == pytest.approx(14 / 64)


@pytest.mark.parametrize("images", [2, 7, 8, 9, 360, 1797])
def test_p_is_that_of_scipys_binomial_test(images: int) -> None:
    draw = np.random.default_rng(images)
    ours, theirs = draw.random((2, images)) < 0.7
    found = mcnemar(pack(ours), pack(theirs), images=images)
    better, worse = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    assert (found.better, found.worse) == (better, worse)
    expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert found.p == pytest.approx(expected, abs=1e-9)


def test_models_that_hit_the_same_images_have_p_1() -> None:
    assert mcnemar(pack([1, 0, 1]), pack([1, 0, 1]), images=3).p == 1.0


def test_bits_beyond_the_last_image_are_ignored() -> None:
    ours, theirs = pack([1, 0, 1]), pack([1, 1, 1])
    assert mcnemar(ours | np.uint8(0x1F), theirs, images=3) == mcnemar(ours, theirs, images=3)


def test_the_difference_is_that_of_the_mean_accuracies_over_common_seeds() -> None:
    arm, baseline = runs(np.random.default_rng(0), 5, 100)
    expected = matrix(arm, baseline, 100)[:4].mean()
    del baseline[4]
    for found in (
        crossed_interval(arm, baseline, images=100, confidence=0.95),
        crossed_bootstrap(arm, baseline, images=100, confidence=0.95, generator=np.random.default_rng(0)),
    ):
        assert (found.difference, found.n) == (pytest.approx(expected), 4)


def test_the_two_parts_are_those_of_the_analysis_of_variance() -> None:
    arm, baseline = runs(np.random.default_rng(1), 4, 300)
    d = matrix(arm, baseline, 300)
    seeds = 300 * d.mean(1).var(ddof=1)
    images = 4 * d.mean(0).var(ddof=1)
    rest = ((d - d.mean(1, keepdims=True) - d.mean(0) + d.mean()) ** 2).sum() / (3 * 299)
    found = crossed_interval(arm, baseline, images=300, confidence=0.9)
    assert found.over_seeds == pytest.approx(stats.t.ppf(0.95, 3) * math.sqrt(seeds / 1200), rel=1e-9)
    assert found.over_images == pytest.approx(stats.norm.ppf(0.95) * math.sqrt(max(0, images - rest) / 1200), rel=1e-9)
    half = math.hypot(found.over_seeds or 0, found.over_images or 0)
    assert (found.ci_low, found.ci_high) == pytest.approx((d.mean() - half, d.mean() + half), rel=1e-9)


def test_it_is_never_narrower_than_the_interval_over_seeds() -> None:
    draw = np.random.default_rng(2)
    for _ in range(50):
        arm, baseline = runs(draw, 3, 80, of_images=draw.choice([0.0, 1.0]))
        by_seed = matrix(arm, baseline, 80).mean(1)
        if by_seed.std() > 1e-9:
            low, high = stats.ttest_1samp(by_seed, 0).confidence_interval(0.95)
            found = crossed_interval(arm, baseline, images=80, confidence=0.95)
            assert found.ci_low is not None
            assert found.ci_low <= low + 1e-12
            assert found.ci_high is not None
            assert found.ci_high >= high - 1e-12


@pytest.mark.parametrize("n", [3, 10])
def test_the_interval_covers_new_images_and_new_seeds(n: int) -> None:
    # 600 intervals; measured at length 93.8 to 96.7 %. sd 0.9 %: false alarm at 90.5 % below 1e-6. Without the images'
    # part the second covers 88 %.
    draw = np.random.default_rng(3)
    hits = 0
    for _ in range(600):
        arm, baseline = runs(draw, n, 400, seeds=0.05, of_images=1.5)
        found = crossed_interval(arm, baseline, images=400, confidence=0.95)
        assert found.ci_low is not None
        assert found.ci_high is not None
        # A symmetric gain draws easy images (more than half) down: the true difference, by quadrature.
        hits += found.ci_low <= TRUTH <= found.ci_high
    assert hits >= 0.905 * 600


def _true_difference() -> float:
    at, weights = np.polynomial.hermite_e.hermegauss(80)
    sds = np.sqrt(4 + 0.49 + 0.05**2 + np.array([1.5**2, 0.0]))
    means = (1 / (1 + np.exp(-(1.0 + sds[:, None] * at))) * weights).sum(1) / weights.sum()
    return float(means[0] - means[1])


TRUTH = _true_difference()


def test_the_bootstraps_variance_is_that_of_drawing_seeds_and_images() -> None:
    # Owen (2007): a^2 / S + b^2 / M + about three times e^2 / (S M); exactly, with the sums of squares, for one draw of
    # each: E over both of (mean)^2. Checked against 20000 plain draws by index: sd of a variance 1 %, 6 sd.
    arm, baseline = runs(np.random.default_rng(4), 5, 60)
    d = matrix(arm, baseline, 60)
    draw = np.random.default_rng(5)
    plain = np.array([d[np.ix_(draw.integers(5, size=5), draw.integers(60, size=60))].mean() for _ in range(20000)])
    found = crossed_bootstrap(
        arm, baseline, images=60, confidence=0.6826895, generator=np.random.default_rng(6), draws=20000
    )
    assert found.ci_low is not None
    assert found.ci_high is not None
    low, high = np.quantile(plain, [0.15865525, 0.84134475])
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=0.06 * plain.std())


def test_the_bootstrap_depends_on_its_generator_alone_not_on_how_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    arm, baseline = runs(np.random.default_rng(7), 4, 100)
    one, again, other = (
        crossed_bootstrap(arm, baseline, images=100, confidence=0.95, generator=np.random.default_rng(seed), draws=500)
        for seed in (0, 0, 1)
    )
    assert one == again
    assert one != other


def test_ten_thousand_images_and_ten_seeds_are_drawn_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setsweep.sweeps.statistics.methods.images.CHUNK", 1000)
    arm, baseline = runs(np.random.default_rng(8), 4, 200)
    found = crossed_bootstrap(arm, baseline, images=200, confidence=0.95, generator=np.random.default_rng(0), draws=300)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < found.difference < found.ci_high  # type: ignore[operator]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_seeds_have_no_interval(n: int) -> None:
    arm, baseline = runs(np.random.default_rng(9), 3, 50)
    few = {seed: baseline[seed] for seed in range(n)}
    for found in (
        crossed_interval(arm, few, images=50, confidence=0.95),
        crossed_bootstrap(arm, few, images=50, confidence=0.95, generator=np.random.default_rng(0)),
    ):
        assert (found.ci_low, found.ci_high, found.n) == (None, None, n)
        assert (found.difference is None) == (n == 0)


def test_hits_on_another_number_of_images_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"hits on 360 images must be 45 bytes of packed bits .* got uint8 of shape \(2,\)"
    ):
        mcnemar(pack([1] * 16), pack([1] * 16), images=360)


def test_hits_that_are_not_packed_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be 2 bytes of packed bits .* got bool of shape \(2,\)"):
        mcnemar(np.array([True, False]), pack([1] * 16), images=16)  # type: ignore[arg-type]


def test_few_draws_are_refused() -> None:
    arm, baseline = runs(np.random.default_rng(0), 3, 50)
    with pytest.raises(ValueError, match="draws must be >= 100, got 10"):
        crossed_bootstrap(arm, baseline, images=50, confidence=0.95, generator=np.random.default_rng(0), draws=10)
