"""Thresholds by selection: ranks by hand, what is refused, and the coverage that they promise."""

from __future__ import annotations

import math

import pytest
import torch

from setsweep.trainables.conformal.clusters import cluster_numbers, clustered, weighted_kmeans
from setsweep.trainables.conformal.enough import fewest
from setsweep.trainables.conformal.how import Conformal, nonconformity, thresholds
from setsweep.trainables.conformal.quantiles import classwise, conformal_quantile, interpolated, marginal
from setsweep.trainables.conformal.sets import CALIBRATIONS, SCORES, Calibration, ScoreName


@pytest.mark.parametrize(
    ("examples", "coverage", "rank"),
    [(9, 0.9, 9), (10, 0.9, 10), (19, 0.9, 18), (99, 0.07, 7), (999, 0.95, 950)],  # ceil((n + 1) coverage)
)
def test_the_threshold_is_the_ceil_n_plus_1_times_coverage_th_smallest(
    examples: int, coverage: float, rank: int
) -> None:
    shuffled = torch.randperm(examples).double() + 1
    assert conformal_quantile(shuffled, coverage) == rank


def test_the_threshold_is_infinite_where_there_are_too_few_examples() -> None:
    assert conformal_quantile(torch.arange(8.0), 0.9) == math.inf
    assert conformal_quantile(torch.arange(9.0), 0.9) == 8


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_the_fewest_examples_are_those_from_which_on_the_threshold_is_finite(coverage: float) -> None:
    assert math.isfinite(conformal_quantile(torch.zeros(fewest(coverage)), coverage))
    assert conformal_quantile(torch.zeros(fewest(coverage) - 1), coverage) == math.inf


def test_a_score_that_is_not_a_number_counts_as_larger_than_any() -> None:
    assert conformal_quantile(torch.tensor([math.nan, 1.0, 2.0]), 0.5) == 2.0


def test_each_class_has_the_quantile_of_its_own_scores() -> None:
    scores, labels = torch.tensor([0.1, 0.9, 0.2, 0.8, 0.3]), torch.tensor([0, 1, 0, 1, 0])
    found = classwise(scores, labels, 3, 0.5)
    # ranks ceil(4 / 2) = 2 of (0.1, 0.2, 0.3) and ceil(3 / 2) = 2 of (0.8, 0.9); the third class has no example
    assert found.tolist() == pytest.approx([0.2, 0.9, math.inf])


def test_interpolated_thresholds_lie_between_those_of_all_and_of_the_class() -> None:
    of_all, of_class = torch.tensor([0.5, 0.5, 0.5]), torch.tensor([0.1, 0.9, math.inf])
    found = interpolated(of_all, of_class, weight=0.25, largest=1.0)
    assert found.tolist() == pytest.approx([0.4, 0.6, 0.625])
    assert interpolated(of_all, of_class, weight=0, largest=1.0).tolist() == of_all.tolist()
    assert interpolated(of_all, of_class, weight=1, largest=1.0).tolist() == pytest.approx([0.1, 0.9, 1.0])


def test_too_few_examples_for_a_coverage_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^calibration examples must be >= coverage / \(1 - coverage\) = 19 for a "
                       r"coverage of 0.95, got 18\.$"):  # fmt: skip
        marginal(torch.zeros(18), 10, 0.95)
    with pytest.raises(ValueError, match=r"calibration examples must be >= .* = 19"):
        clustered(torch.zeros(18), torch.zeros(18).long(), 10, 0.95, torch.Generator())


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, 1.5])
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_a_coverage_out_of_range_is_refused(coverage: float, calibration: Calibration) -> None:
    with pytest.raises(ValueError, match=rf"^coverage must be > 0 and < 1, got {coverage}\.$"):
        thresholds(
            calibration, torch.zeros(50), torch.zeros(50).long(), coverage, Conformal(),
            largest=1.0, num_classes=2, generator=torch.Generator(),
        )  # fmt: skip


def test_kmeans_finds_clusters_that_lie_apart() -> None:
    generator = torch.Generator().manual_seed(3)
    placed = torch.arange(60) % 3
    points = 10.0 * placed.unsqueeze(1).double() + torch.randn(60, 5, generator=generator, dtype=torch.float64)
    found = weighted_kmeans(points, torch.ones(60, dtype=torch.float64), 3, generator)
    assert len({(one, other) for one, other in zip(placed.tolist(), found.tolist(), strict=True)}) == 3


def test_kmeans_takes_points_that_coincide() -> None:
    found = weighted_kmeans(torch.zeros(4, 2), torch.ones(4), 3, torch.Generator().manual_seed(0))
    assert found.tolist() == [0, 0, 0, 0]


def test_rare_classes_have_the_threshold_of_all_and_clusters_their_own() -> None:
    # Classes 0 to 19 have scores about 0.2 and 20 to 39 about 0.8, 100 each; class 40 has a single example.
    generator = torch.Generator().manual_seed(4)
    labels = torch.cat([torch.arange(40).repeat(100), torch.tensor([40])])
    scores = torch.where(labels < 20, 0.2, 0.8) + 0.1 * torch.rand(len(labels), generator=generator)
    found = clustered(scores.double(), labels, 41, 0.9, generator, numbers=(0.3, 2))
    assert found[:20].unique().tolist() == pytest.approx([0.29], abs=0.005)  # 90 % of 0.2 to 0.3
    assert found[20:40].unique().tolist() == pytest.approx([0.89], abs=0.005)
    assert found[40] == pytest.approx(0.88, abs=0.005)  # of all: 80 % of the upper half


def test_numbers_of_clusters_are_those_of_the_authors_heuristic() -> None:
    # Rarest class: 100; all 40 classes have as many: 100 x 40 / (75 + 40) = 34.8, so 34 examples and 17 clusters.
    assert cluster_numbers(torch.full((40,), 100), 0.9) == (0.34, 17)
    # A rarest class of 2 counts as the 9 that a coverage of 0.9 takes, which 3 classes have: 9 x 3 / 78 = 0.3.
    assert cluster_numbers(torch.tensor([2, 20, 30, 9]), 0.9) == (0.0, 0)


@pytest.mark.parametrize("score", SCORES)
def test_calibrated_sets_cover_exchangeable_examples_as_they_promise(score: ScoreName) -> None:
    """400 draws of 99 calibration and 50 test examples at a coverage of 0.9.

    With n = 99 and continuous scores the coverage given the calibration is Beta(90, 10): mean 0.9, variance 0.09 / 101.
    A mean of 50 tests adds at most 0.09 / 50, so that the mean of 400 has a standard deviation of at most
    sqrt((0.09 / 101 + 0.09 / 50) / 400) = 0.0026. It is further than 4 of those from 0.9 with probability 6e-5: over
    five scores a false alarm in 3,000 runs.
    """
    generator = torch.Generator().manual_seed(20261122)
    logits = torch.randn(400 * 149, 8, generator=generator)
    labels = (2 * logits).softmax(1).multinomial(1, generator=generator)  # not the model's own odds
    draws, prevalence = torch.rand(len(logits), generator=generator), torch.linspace(0.05, 0.2, 8)
    every = nonconformity(score, logits.softmax(1), Conformal(randomized=True), prevalence=prevalence, draws=draws)
    own = every.gather(1, labels).view(400, 149)
    found = torch.stack([marginal(each, 8, 0.9)[:1] for each in own[:, :99]])
    assert (own[:, 99:] <= found).double().mean().item() == pytest.approx(0.9, abs=4 * 0.0026)


def test_classwise_thresholds_cover_each_class_as_they_promise() -> None:
    """2,000 draws of 19 calibration examples and one test example of a class at a coverage of 0.9: rank 18 of 19 covers
    with probability 18 / 20 = 0.9 exactly, so the mean has a standard deviation of 0.0067; beyond 4 of those, for one
    of two classes, with probability 1.3e-4.
    """
    generator = torch.Generator().manual_seed(5)
    labels = torch.arange(2).repeat_interleave(19)
    held = []
    for _ in range(2000):
        scores = torch.rand(40, generator=generator) * torch.tensor([1.0, 5.0]).repeat_interleave(20)
        calibration = torch.cat([scores[:19], scores[20:39]])
        held.append((scores[[19, 39]] <= classwise(calibration, labels, 2, 0.9)).double())
    assert torch.stack(held).mean(0).tolist() == pytest.approx([0.9, 0.9], abs=4 * 0.0067)
