"""Optimisers do, to the last bit, what those of PyTorch do; learning rates follow batch size and milestones."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from setsweep.trainables.config.run_config import Optimizer, Training
from setsweep.trainables.learners.optimizers import Updates, build_loss_optimizer, build_optimizer, learning_rate

RATES = (0.1, 0.1, 0.02, 0.02, 0.3)
DENSE: list[tuple[Optimizer, Callable[..., torch.optim.Optimizer]]] = [
    (Optimizer(), torch.optim.SGD),
    (Optimizer(weight_decay=0.1), lambda p: torch.optim.SGD(p, weight_decay=0.1)),
    (Optimizer(momentum=0.9), lambda p: torch.optim.SGD(p, momentum=0.9)),
    (
        Optimizer(momentum=0.9, nesterov=True, weight_decay=0.1),
        lambda p: torch.optim.SGD(p, momentum=0.9, nesterov=True, weight_decay=0.1),
    ),
    (
        Optimizer(name="adam", betas=(0.8, 0.99), weight_decay=0.1),
        lambda p: torch.optim.Adam(p, betas=(0.8, 0.99), weight_decay=0.1),
    ),
    (Optimizer(name="adamw", weight_decay=0.1), lambda p: torch.optim.AdamW(p, weight_decay=0.1)),
]
SPARSE: list[tuple[Optimizer, Callable[..., torch.optim.Optimizer]]] = [
    (Optimizer(momentum=0.9, nesterov=True, weight_decay=0.1), torch.optim.SGD),
    (Optimizer(name="adam", betas=(0.8, 0.99)), lambda p: torch.optim.SparseAdam(p, betas=(0.8, 0.99))),
    (Optimizer(name="adamw", weight_decay=0.1), torch.optim.SparseAdam),
]


def _parameters() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(4, 3, generator=generator)), nn.Parameter(torch.randn(4, generator=generator))]


def _loss(parameters: Iterable[nn.Parameter]) -> Tensor:
    matrix, vector = parameters
    return ((matrix.sum(1) * vector).sin() + matrix.square().sum(1)).sum()


def _row_loss(parameters: Iterable[nn.Parameter], step: int) -> Tensor:
    (matrix,) = parameters
    rows = torch.tensor([step % 4, (step + 1) % 4])
    return nn.functional.embedding(rows, matrix, sparse=True).sin().sum()


@pytest.mark.parametrize(("settings", "reference"), DENSE)
def test_steps_are_those_of_pytorch(settings: Optimizer, reference: Any) -> None:
    ours, theirs = _parameters(), _parameters()
    updates, optimizer = build_optimizer(ours, settings), reference(theirs)
    for lr in RATES:
        _loss(ours).backward()
        updates.step(lr)
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        _loss(theirs).backward()
        optimizer.step()
        assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
    assert all(parameter.grad is None for parameter in ours)


@pytest.mark.parametrize(("settings", "reference"), SPARSE)
def test_rows_without_a_gradient_stay_as_they_are_whatever_the_settings_of_the_model(
    settings: Optimizer, reference: Any
) -> None:
    ours, theirs = _parameters()[:1], _parameters()[:1]
    updates, optimizer = build_loss_optimizer(ours, settings), reference(theirs)
    for step, lr in enumerate(RATES):
        before = ours[0].detach().clone()
        _row_loss(ours, step).backward()
        updates.step(lr)
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        _row_loss(theirs, step).backward()
        optimizer.step()
        assert torch.equal(ours[0], theirs[0])
        changed = (ours[0] != before).any(1).nonzero().flatten().tolist()
        assert changed == sorted([step % 4, (step + 1) % 4])


@pytest.mark.parametrize("nesterov", [False, True])
def test_rows_that_every_step_sees_have_momentum_as_pytorch_has(nesterov: bool) -> None:
    ours, theirs = _parameters()[:1], _parameters()[:1]
    updates = build_loss_optimizer(ours, Optimizer(momentum=0.5, nesterov=nesterov, weight_decay=1.0), momentum=0.9)
    optimizer = torch.optim.SGD(theirs, momentum=0.9, nesterov=nesterov)
    for lr in RATES:
        everyone = torch.arange(len(ours[0]))
        nn.functional.embedding(everyone, ours[0], sparse=True).sin().sum().backward()
        updates.step(lr)
        optimizer.param_groups[0]["lr"] = lr
        optimizer.zero_grad()
        theirs[0].sin().sum().backward()
        optimizer.step()
        torch.testing.assert_close(ours[0], theirs[0], rtol=1e-6, atol=1e-7)


def test_a_row_moves_along_its_velocity_in_the_steps_that_see_it_alone() -> None:
    matrix = nn.Parameter(torch.zeros(2, 1))
    updates = build_loss_optimizer([matrix], Optimizer(), momentum=0.5)

    def see(row: int) -> list[float]:
        rows = torch.tensor([row, row])  # a row seen twice counts twice
        nn.functional.embedding(rows, matrix, sparse=True).sum().backward()
        updates.step(0.1)
        values: list[float] = matrix.detach().flatten().tolist()
        return values

    # velocities 2, then 0.5 * 2 + 2 = 3, then 0.5 * 3 + 2 = 3.5
    assert see(0) == pytest.approx([-0.2, 0.0])
    assert see(1) == pytest.approx([-0.2, -0.2])
    assert see(0) == pytest.approx([-0.5, -0.2])
    again = build_loss_optimizer([matrix], Optimizer(), momentum=0.5)
    again.load_state_dict(copy.deepcopy(updates.state_dict()))
    updates = again
    assert see(0) == pytest.approx([-0.85, -0.2])


def test_the_momentum_of_a_loss_is_none_of_adams() -> None:
    settings = Optimizer(name="adam")
    ours, theirs = _parameters()[:1], _parameters()[:1]
    for parameters, momentum in ((ours, 0.9), (theirs, 0.0)):
        updates = build_loss_optimizer(parameters, settings, momentum=momentum)
        _row_loss(parameters, 0).backward()
        updates.step(0.1)
    assert torch.equal(ours[0], theirs[0])


@pytest.mark.parametrize("settings", [settings for settings, _ in DENSE])
def test_a_restored_optimizer_goes_on_where_the_saved_one_was(settings: Optimizer) -> None:
    parameters = _parameters()
    updates = build_optimizer(parameters, settings)
    for lr in RATES[:3]:
        _loss(parameters).backward()
        updates.step(lr)
    restored = [nn.Parameter(parameter.detach().clone()) for parameter in parameters]
    again: Updates = build_optimizer(restored, settings)
    again.load_state_dict(copy.deepcopy(updates.state_dict()))
    for lr in RATES[3:]:
        for each, optimizer in ((restored, again), (parameters, updates)):
            _loss(each).backward()
            optimizer.step(lr)
    assert all(torch.equal(one, other) for one, other in zip(restored, parameters, strict=True))


@pytest.mark.parametrize("batch_size", [16, 64, 128, 1000])
def test_the_learning_rate_for_each_example_stays_where_a_reference_batch_size_is_set(batch_size: int) -> None:
    training = Training(optimizer=Optimizer(lr=0.2), reference_batch_size=64)
    assert learning_rate(training, epoch=0, batch_size=batch_size) == 0.2 * batch_size / 64
    assert learning_rate(Training(optimizer=Optimizer(lr=0.2)), epoch=0, batch_size=batch_size) == 0.2


def test_the_learning_rate_falls_after_each_milestone() -> None:
    training = Training(epochs=7, optimizer=Optimizer(lr=0.8), milestones=(2, 3, 6), gamma=0.5)
    rates = [learning_rate(training, epoch=epoch, batch_size=1) for epoch in range(7)]
    assert rates == [0.8, 0.8, 0.4, 0.2, 0.2, 0.2, 0.1]


def test_the_warm_up_rises_step_by_step_to_the_rate_of_its_last_step() -> None:
    # two epochs of 3 steps: sixths of the rate; the milestone after the first epoch counts all the same
    training = Training(epochs=4, optimizer=Optimizer(lr=0.6), warmup_epochs=2, milestones=(1, 3), gamma=0.5)
    rates = [
        learning_rate(training, epoch=epoch, batch_size=1, step=step, steps=3)
        for epoch in range(4)
        for step in range(3)
    ]
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.2, 0.25, 0.3, 0.3, 0.3, 0.3, 0.15, 0.15, 0.15], rel=1e-12)


def test_milestones_are_those_of_pytorch() -> None:
    training = Training(epochs=9, optimizer=Optimizer(lr=0.3), milestones=(1, 4, 8), gamma=0.1)
    optimizer = torch.optim.SGD(_parameters(), lr=0.3)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 4, 8], gamma=0.1)
    for epoch in range(9):
        assert learning_rate(training, epoch=epoch, batch_size=1) == optimizer.param_groups[0]["lr"]
        optimizer.step()
        schedule.step()
