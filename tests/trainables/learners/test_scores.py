"""Scores as losses and evaluations take them."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import nn

from setsweep.trainables.config.run_config import Training
from setsweep.trainables.learners.scores import compute_scores, of_predicting_head
from setsweep.trainables.models.heads import TwoHead

CPU = torch.device("cpu")


@pytest.mark.parametrize("network", [nn.Linear(20, 3), TwoHead(20, 3)], ids=["one head", "two heads"])
def test_a_model_that_computes_in_bfloat16_gives_float32_scores_of_that_precision(network: nn.Module) -> None:
    inputs = torch.randn(5, 20, generator=torch.Generator().manual_seed(0))
    exact = compute_scores(network, inputs, Training(), CPU)
    rounded = compute_scores(network, inputs, Training(precision="bfloat16"), CPU)
    assert isinstance(exact, tuple) == isinstance(rounded, tuple) == isinstance(network, TwoHead)
    for one, other in zip(exact, rounded, strict=True):  # over the heads, or the rows of the only one
        assert one.dtype == other.dtype == torch.float32
        assert torch.equal(other, other.bfloat16().float())
        assert 0 < (one - other).abs().max() < 0.02 * exact[0].abs().max()  # 8 bits of mantissa


@pytest.mark.parametrize(("head", "position"), [("ml", 0), ("sccp", 1)])
def test_of_two_heads_one_predicts_and_a_single_one_always_does(head: Literal["ml", "sccp"], position: int) -> None:
    pair = torch.zeros(2, 3), torch.ones(2, 3)
    assert of_predicting_head(pair, Training(head=head)) is pair[position]
    assert of_predicting_head(pair[0], Training(head=head)) is pair[0]
