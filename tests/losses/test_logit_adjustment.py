from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from setsweep.losses import build_loss
from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.logit_adjustment import class_log_priors, logit_adjustment


def test_priors_are_the_shares_of_the_classes_and_unseen_ones_count_as_the_rarest() -> None:
    # The unseen class counts as another of 2: shares of 2, 4, 8 and 2 sixteenths.
    priors = class_log_priors(torch.tensor([2, 4, 8, 0])).exp()
    torch.testing.assert_close(priors, torch.tensor([0.125, 0.25, 0.5, 0.125], dtype=torch.float64))


def test_rarer_labels_ask_for_a_wider_lead() -> None:
    # Two classes of equal scores, shares 1/5 and 4/5: log(1 + 4) for the rare label, log(1 + 1/4) for the other.
    loss = build_loss("logit_adjustment", num_classes=2, class_counts=[10, 40])
    rare, common = loss(torch.zeros(2, 2, dtype=torch.float64), torch.tensor([0, 1])).tolist()
    assert rare == pytest.approx(math.log(5), rel=1e-12)
    assert common == pytest.approx(math.log(1.25), rel=1e-12)


def test_tau_is_the_power_of_the_shares() -> None:
    # Shares 1/5 and 4/5 to the power of 2: log(1 + 4^2).
    loss = build_loss("logit_adjustment", num_classes=2, class_counts=[10, 40], tau=2.0)
    value = loss(torch.zeros(1, 2, dtype=torch.float64), torch.tensor([0])).item()
    assert value == pytest.approx(math.log(17), rel=1e-12)


@pytest.mark.parametrize("counts", [[7] * 12, [1, 5, 9, 30, 2, 80, 4, 4, 6, 100, 3, 11]])
def test_without_tau_or_without_imbalance_it_is_cross_entropy(batch: tuple[Tensor, Tensor], counts: list[int]) -> None:
    tau = 1.3 if len(set(counts)) == 1 else 0.0
    values = logit_adjustment(*batch, class_log_priors(torch.tensor(counts)), tau=tau)
    torch.testing.assert_close(values, cross_entropy(*batch), rtol=1e-12, atol=1e-12)


def test_its_minimiser_ranks_classes_by_the_balanced_error() -> None:
    # Theorem (Menon et al., section 4): scores with softmax(scores + log prior) = P(y|x) are P(y|x) / P(y) up to a
    # factor, so that class 0, likelier here but also ten times as common, comes second.
    posterior, priors = torch.tensor([0.7, 0.3]).double(), torch.tensor([10 / 11, 1 / 11]).double()
    scores = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([scores], max_iter=100, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

    def risk() -> Tensor:
        optimizer.zero_grad()
        values = logit_adjustment(scores.expand(2, 2), torch.tensor([0, 1]), priors.log())
        value = (posterior * values).sum()
        value.backward()
        return value

    optimizer.step(risk)  # type: ignore[no-untyped-call]
    expected = (posterior / priors).log()
    assert (scores[0] - scores[1]).item() == pytest.approx((expected[0] - expected[1]).item(), abs=1e-6)
    assert scores[1] > scores[0]


def test_priors_come_with_the_class_counts_and_not_with_a_checkpoint() -> None:
    loss = build_loss("logit_adjustment", num_classes=3, class_counts=torch.tensor([1, 16, 81]))
    assert loss.state_dict() == {}
    assert [name for name, _ in loss.named_buffers()] == ["log_priors"]
