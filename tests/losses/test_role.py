from __future__ import annotations

import pytest
import torch

from setsweep.losses import build_loss


@pytest.fixture
def loss():
    return build_loss("role", num_classes=5, k=2, num_examples=6, generator=torch.Generator().manual_seed(0))


def step(loss, indices):
    scores = torch.randn(len(indices), 5, requires_grad=True)
    loss(scores, torch.zeros(len(indices), dtype=torch.int64), indices=torch.tensor(indices)).mean().backward()


def test_a_step_moves_the_estimates_of_its_batch_alone(loss):
    before = loss.estimates.detach().clone()
    step(loss, [4, 1])
    assert loss.estimates.grad.is_sparse
    torch.optim.SGD(loss.parameters(), lr=1.0).step()
    assert (loss.estimates != before).any(1).tolist() == [False, True, False, False, True, False]


def test_the_gradient_of_the_estimates_holds_the_rows_of_the_batch_alone(loss):
    step(loss, [4, 1])
    assert loss.estimates.grad.coalesce().values().shape == (2, 5)


def test_an_examples_own_label_starts_near_one_when_first_seen_and_is_then_left_to_the_optimiser(loss):
    step(loss, [4])
    assert loss.estimates.detach().sigmoid()[4].tolist()[0] == pytest.approx(0.995)
    with torch.no_grad():
        loss.estimates[4, 0] = 0.0
    step(loss, [4])
    assert loss.estimates[4, 0] == 0.0


def test_estimates_start_between_four_and_six_tenths(loss):
    start = loss.estimates.detach().sigmoid()
    assert ((start > 0.4) & (start < 0.6)).all()


def test_estimates_are_part_of_the_state(loss):
    other = build_loss("role", num_classes=5, k=2, num_examples=6)
    step(loss, [2])
    other.load_state_dict(loss.state_dict())
    assert torch.equal(other.estimates, loss.estimates)
    assert torch.equal(other.seen, loss.seen)


@pytest.mark.parametrize("index", [6, -1])
def test_an_index_out_of_range_is_refused(loss, index):
    with pytest.raises(ValueError, match=rf"^indices must be between 0 and num_examples - 1 = 5, got {index}\.$"):
        loss(torch.zeros(1, 5), torch.tensor([0]), indices=torch.tensor([index]))


def test_missing_indices_are_refused(loss):
    with pytest.raises(ValueError, match=r"^indices must be int64 of shape \(1,\), one for each label, got None\.$"):
        loss(torch.zeros(1, 5), torch.tensor([0]))
