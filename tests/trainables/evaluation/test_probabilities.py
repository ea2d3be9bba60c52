"""How scores become probabilities."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from setsweep.losses import LOSSES
from setsweep.losses.declaration import Probabilities
from setsweep.trainables.evaluation.probabilities import probabilities_of, scale_of, to_probabilities


@pytest.mark.parametrize("classes", [3, 40])
def test_probabilities_are_softmax_or_sigmoid_in_single_precision_at_least(classes: int) -> None:
    scores = torch.randn(5, classes)
    torch.testing.assert_close(to_probabilities(scores, "softmax"), scores.softmax(1))
    assert torch.equal(to_probabilities(scores.half(), "sigmoid"), scores.half().float().sigmoid())
    assert to_probabilities(scores.double(), "softmax").dtype == torch.float64


@pytest.mark.parametrize("asked", ["softmax", "sigmoid", None])
@pytest.mark.parametrize(
    ("loss", "head"),
    [(name, head) for name in LOSSES for head in ("ml", "sccp") if head == "ml" or LOSSES[name].either_head_predicts],
)
def test_a_run_takes_what_it_says_else_what_its_loss_declares_and_softmax_for_the_head_of_cross_entropy(
    loss: str, asked: Probabilities | None, head: str, make_config: Any
) -> None:
    config = make_config(loss={"name": loss}, k=2, training={"threshold_scores": asked, "head": head})
    by_cross_entropy = head == "sccp" and LOSSES[loss].head == "two_head"
    assert probabilities_of(config) == (asked or ("softmax" if by_cross_entropy else LOSSES[loss].probabilities))


def test_scores_are_scaled_before_they_become_probabilities() -> None:
    cosines = torch.tensor([[0.9, 0.8, 0.1]])
    # softmax(10 x): 1, e^-1 and e^-8 over their sum
    found = to_probabilities(cosines, "softmax", 10.0)
    torch.testing.assert_close(found, torch.tensor([[0.7309, 0.2689, 0.0002]]), rtol=0, atol=5e-5)
    torch.testing.assert_close(to_probabilities(cosines, "sigmoid", 10.0), (10 * cosines).sigmoid())


@pytest.mark.parametrize("loss", LOSSES)
def test_the_scale_of_a_loss_on_cosines_belongs_to_its_probabilities(loss: str, make_config: Any) -> None:
    assert scale_of(make_config(loss={"name": loss}, k=2)) == {"ldam": 30, "noised_imbalanced_topk_hinge": 60}.get(
        loss, 1
    )
    assert bool(LOSSES[loss].scaled_by) == (LOSSES[loss].head == "cosine")


def test_the_scale_is_the_one_that_the_run_has(make_config: Any) -> None:
    assert scale_of(make_config(loss={"name": "ldam", "scale": 12.5}, k=2)) == 12.5
