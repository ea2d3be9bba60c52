from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from setsweep.losses import build_loss
from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.ldam import class_margins, ldam


def test_margins_fall_with_the_fourth_root_and_unseen_classes_count_as_the_rarest() -> None:
    # 16^(1/4) = 2 and 81^(1/4) = 3
    margins = class_margins(torch.tensor([2, 32, 162, 0]), 0.5)
    torch.testing.assert_close(margins, torch.tensor([0.5, 0.25, 0.5 / 3, 0.5], dtype=torch.float64))


def test_margins_depend_on_the_ratios_of_the_counts_alone() -> None:
    counts = torch.tensor([7, 900, 31])
    torch.testing.assert_close(class_margins(100 * counts, 0.5), class_margins(counts, 0.5), rtol=1e-12, atol=0)


@pytest.mark.parametrize("max_margin", [0.1, 1.0])
def test_the_rarest_class_has_the_largest_margin(max_margin: float) -> None:
    margins = class_margins(torch.tensor([500, 20, 3, 90]), max_margin)
    assert margins.argmax() == 2
    assert margins.max().item() == max_margin


def test_the_margin_is_taken_off_before_the_scale() -> None:
    # Two cosines of 1/2 and a margin of 1/4 on the label: 4 x (1/2 - 1/4) = 1 against 4 x 1/2 = 2, so log(1 + e^1).
    cosines = torch.tensor([[0.5, 0.5]], dtype=torch.float64)
    margins = torch.tensor([0.25, 9.0])  # the other class's does not matter
    value = ldam(cosines, torch.tensor([0]), margins, scale=4.0).item()
    assert value == pytest.approx(math.log1p(math.e), rel=1e-12)


def test_it_is_cross_entropy_of_the_harder_scores(batch: tuple[Tensor, Tensor]) -> None:
    scores, labels = batch
    margins = torch.linspace(0.1, 1.2, 12, dtype=torch.float64)
    harder = 5.0 * (scores - margins * one_hot(labels, 12))
    torch.testing.assert_close(ldam(scores, labels, margins, scale=5.0), cross_entropy(harder, labels))


def test_without_margin_and_scale_it_is_cross_entropy(batch: tuple[Tensor, Tensor]) -> None:
    torch.testing.assert_close(ldam(*batch, torch.zeros(12), scale=1.0), cross_entropy(*batch), rtol=1e-12, atol=1e-12)


def test_of_two_classes_with_the_same_cosine_the_rarer_costs_more() -> None:
    loss = build_loss("ldam", num_classes=3, class_counts=[1, 16, 16])
    rare, common = loss(torch.tensor([[0.6, 0.6, 0.1]]).expand(2, 3), torch.tensor([0, 1]))
    # Scale 30, margins 1/2 and 1/4: scores of 18 - 15, 18 and 3 for the rarer label, 18, 18 - 7.5 and 3 for the other.
    assert rare.item() == pytest.approx(math.log(1 + math.exp(15) + 1), rel=1e-6)
    assert common.item() == pytest.approx(math.log(math.exp(7.5) + 1 + math.exp(-7.5)), rel=1e-6)


def test_margins_come_with_the_class_counts_and_not_with_a_checkpoint() -> None:
    loss = build_loss("ldam", num_classes=3, class_counts=torch.tensor([1, 16, 81]))
    assert loss.state_dict() == {}
    assert [name for name, _ in loss.named_buffers()] == ["margins"]
