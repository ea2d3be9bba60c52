from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from setsweep.data import load_dataset
from setsweep.data.circle import best_avgk_accuracy, best_topk_accuracy
from setsweep.data.dataset import Dataset, Split


def circle(seed: int = 0, **settings: float) -> Dataset:
    return load_dataset({"name": "circle", **settings}, seed=seed)


def degrees(split: Split, label: int) -> Tensor:
    """Angles of a class relative to its centre, in -180..180."""
    x, y = split.inputs[split.labels == label].double().unbind(1)
    return (torch.rad2deg(torch.atan2(y, x)) - 60 * label + 180).remainder(360) - 180


def test_each_split_has_its_own_300_points_a_class_on_the_unit_circle() -> None:
    data = circle()

    for split in (data.train, data.val, data.test):
        assert split.inputs.shape == (1800, 2)
        assert split.labels.bincount().tolist() == [300] * 6
        torch.testing.assert_close(split.inputs.norm(dim=1), torch.ones(1800), rtol=0, atol=1e-6)
    assert (
        len(torch.unique(torch.cat([data.train.inputs, data.val.inputs, data.test.inputs]), dim=0)) > 5390
    )  # float32 ties


def test_without_shift_a_class_is_one_normal_mode_at_its_centre() -> None:
    data = circle(sigma=15, per_class=20_000)

    for label in range(6):
        angles = degrees(data.train, label)
        # 12 statistics, each within 5 standard errors: false alarm 7e-6
        assert abs(angles.mean()) < 5 * 15 / math.sqrt(20_000)
        assert abs(angles.std() - 15) < 5 * 15 / math.sqrt(40_000)


def test_with_a_shift_one_point_in_three_lies_in_the_second_mode() -> None:
    data = circle(shift=90, per_class=20_000)

    for label in range(6):
        angles = degrees(data.train, label)
        minor = angles > 45  # 4.5 sigma from both modes
        # 18 statistics, each within 5 standard errors: false alarm 1e-5
        assert abs(minor.double().mean() - 1 / 3) < 5 * math.sqrt(2 / 9 / 20_000)
        assert abs(angles[minor].mean() - 90) < 5 * 10 / math.sqrt(20_000 / 3)
        assert abs(angles[~minor].std() - 10) < 5 * 10 / math.sqrt(2 * 20_000 * 2 / 3)


def test_points_are_reproduced_by_the_seed_and_differ_between_seeds() -> None:
    assert torch.equal(circle(1).train.inputs, circle(1).train.inputs)
    assert not torch.equal(circle(1).train.inputs, circle(2).train.inputs)


def test_under_one_seed_distributions_share_their_draws() -> None:
    narrow, wide = (degrees(circle(sigma=sigma).train, 0) for sigma in (5, 10))

    torch.testing.assert_close(wide, 2 * narrow, rtol=0, atol=1e-4)


# top-1 and top-2 at sigma 10, from integrating the mixture's densities independently of this code
@pytest.mark.parametrize(("shift", "top1", "top2"), [(60, 66.5, 99.87), (75, 78.5, 99.73), (90, 87.6, 99.73)])
def test_the_best_possible_accuracies_are_the_integrated_ones(shift: float, top1: float, top2: float) -> None:
    assert 100 * best_topk_accuracy(1, sigma=10, shift=shift) == pytest.approx(top1, abs=0.05)
    assert 100 * best_topk_accuracy(2, sigma=10, shift=shift) == pytest.approx(top2, abs=0.005)


def test_two_far_apart_classes_are_told_apart_as_the_normal_distribution_says() -> None:
    sigma = 30.0

    best = best_topk_accuracy(1, sigma=sigma, shift=0, classes=2)

    # the boundaries lie 90 degrees = 3 sigma to both sides of each centre; beyond 9 sigma nothing is left
    assert best == pytest.approx(math.erf(3 / math.sqrt(2)), abs=1e-5)


def test_all_classes_are_always_enough_and_overlap_without_end_leaves_chance() -> None:
    assert best_topk_accuracy(6, sigma=10, shift=90) == pytest.approx(1, abs=1e-9)
    assert best_topk_accuracy(2, sigma=1000, shift=0) == pytest.approx(2 / 6, abs=1e-6)


@pytest.mark.parametrize("shift", [0, 60, 90])
def test_the_rule_that_picks_the_densest_classes_reaches_the_best_accuracy_on_drawn_points(shift: float) -> None:
    data = circle(shift=shift, per_class=20_000, sigma=20)
    x, y = data.test.inputs.double().unbind(1)
    away = torch.rad2deg(torch.atan2(y, x))[:, None] - 60 * torch.arange(6)
    weights = ((2 / 3, 0.0), (1 / 3, float(shift)))
    density = sum(w * torch.exp(torch.cos(torch.deg2rad(away - d)) / math.radians(20) ** 2) for w, d in weights)
    assert isinstance(density, Tensor)

    hits = (density.topk(2).indices == data.test.labels[:, None]).any(1).double().mean().item()

    # a von Mises density stands in for the wrapped normal one; what that costs is below 0.002, and the share of
    # 120,000 points has a standard error below 0.0012: false alarm at 5 of them 6e-7
    best = best_topk_accuracy(2, sigma=20, shift=shift)
    assert hits == pytest.approx(best, abs=0.002 + 5 * 0.0012)


@pytest.mark.parametrize("shift", [0.0, 60.0, 90.0])
def test_sets_by_a_threshold_on_known_probabilities_reach_the_best_average_k_accuracy(shift: float) -> None:
    """The threshold is that of 60,000 drawn points, so that the size is right on average; see the test above."""
    data = circle(shift=shift, per_class=20_000, sigma=20)
    x, y = data.test.inputs.double().unbind(1)
    away = torch.rad2deg(torch.atan2(y, x))[:, None] - 60 * torch.arange(6)
    weights = ((2 / 3, 0.0), (1 / 3, shift))
    density = torch.stack(
        [w * torch.exp(torch.cos(torch.deg2rad(away - d)) / math.radians(20) ** 2) for w, d in weights]
    )
    likely = density.sum(0) / density.sum((0, 2))[:, None]
    threshold = likely.flatten().kthvalue(likely.numel() - 2 * len(likely)).values

    hits = (likely > threshold).gather(1, data.test.labels[:, None]).double().mean().item()

    assert hits == pytest.approx(best_avgk_accuracy(2, sigma=20, shift=shift), abs=0.002 + 5 * 0.0012)


def test_average_k_is_never_below_top_k_and_above_it_where_some_points_are_more_ambiguous() -> None:
    """All classes are always enough, and overlap without end leaves chance."""
    for shift in (0, 45, 75, 90):
        for k in (1, 2, 3):
            best = best_topk_accuracy(k, sigma=20, shift=shift)
            assert best_avgk_accuracy(k, sigma=20, shift=shift) >= best - 1e-9
    assert best_avgk_accuracy(2, sigma=10, shift=90) > best_topk_accuracy(2, sigma=10, shift=90) + 5e-4
    assert best_avgk_accuracy(6, sigma=10, shift=90) == pytest.approx(1, abs=1e-9)
    assert best_avgk_accuracy(2, sigma=1000, shift=0) == pytest.approx(2 / 6, abs=1e-3)
