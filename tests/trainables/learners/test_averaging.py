"""The moving average of weights."""

from __future__ import annotations

import torch
from torch import nn

from setsweep.trainables.learners.averaging import MovingAverage


def _step(model: nn.Module, number: int) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(number)


def test_the_average_follows_by_a_share_that_shrinks_to_what_the_decay_leaves() -> None:
    # by hand: weights 0, then 1, 2, 3, 4; shares 1 - min(0.2, (1 + n) / (10 + n)) = 9/10, 9/11, 0.8, 0.8
    model = nn.Linear(2, 1)
    _step(model, 0)
    average = MovingAverage(model, 0.2)
    expected = 0.0
    for number, share in enumerate((9 / 10, 9 / 11, 0.8, 0.8), start=1):
        _step(model, number)
        average.follow()
        expected += share * (number - expected)
        assert torch.allclose(average.model.weight, torch.full((1, 2), expected), atol=1e-6)  # float32
    assert torch.equal(model.weight, torch.full((1, 2), 4.0))


def test_statistics_of_batch_normalisation_are_averaged_and_counters_copied() -> None:
    model = nn.BatchNorm1d(3)
    average = MovingAverage(model, 0.9)
    model(torch.randn(8, 3, generator=torch.Generator().manual_seed(0)) + 5)
    average.follow()
    assert model.running_mean is not None
    assert torch.allclose(average.model.running_mean, 0.9 * model.running_mean)  # from 0, by a share of 9/10
    assert average.model.num_batches_tracked == 1


def test_the_average_is_for_evaluation_and_learns_nothing_itself() -> None:
    average = MovingAverage(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), 0.9)
    assert not any(module.training for module in average.model.modules())
    assert not any(parameter.requires_grad for parameter in average.model.parameters())


def test_a_restored_average_goes_on_where_the_saved_one_was() -> None:
    models = [nn.Linear(2, 1), nn.Linear(2, 1)]
    saved, restored = (MovingAverage(model, 0.5) for model in models)
    for number in range(3):
        _step(models[0], number)
        saved.follow()
    restored.restore(saved.state())
    for model, average in zip(models, (saved, restored), strict=True):
        _step(model, 7)
        average.follow()
    assert torch.equal(saved.model.weight, restored.model.weight)
