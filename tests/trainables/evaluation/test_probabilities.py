"""How scores become probabilities."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from setsweep.losses import LOSSES
from setsweep.losses.declaration import Probabilities
from setsweep.trainables.evaluation.probabilities import probabilities_of, to_probabilities


@pytest.mark.parametrize("classes", [3, 40])
def test_probabilities_are_softmax_or_sigmoid_in_single_precision_at_least(classes: int) -> None:
    scores = torch.randn(5, classes)
    torch.testing.assert_close(to_probabilities(scores, "softmax"), scores.softmax(1))
    assert torch.equal(to_probabilities(scores.half(), "sigmoid"), scores.half().float().sigmoid())
    assert to_probabilities(scores.double(), "softmax").dtype == torch.float64


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("asked", ["softmax", "sigmoid", None])
@pytest.mark.parametrize("head", ["ml", "sccp"])
def test_a_run_takes_what_it_says_else_what_its_loss_declares_and_softmax_for_the_head_of_cross_entropy(
    loss: str, asked: Probabilities | None, head: str, make_config: Any
) -> None:
    config = make_config(loss={"name": loss}, k=2, training={"threshold_scores": asked, "head": head})
    by_cross_entropy = head == "sccp" and LOSSES[loss].head == "two_head"
    assert probabilities_of(config) == (asked or ("softmax" if by_cross_entropy else LOSSES[loss].probabilities))
