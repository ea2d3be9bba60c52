"""What a run starts with."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.losses import LOSSES
from setsweep.losses.avgk import AvgK
from setsweep.trainables.learners.initial import initial_loss, initial_model, training_feed

CPU = torch.device("cpu")


@pytest.mark.parametrize("loss", LOSSES)
def test_the_model_has_the_head_that_the_loss_declares(loss: str, make_config: Any, digits: Dataset) -> None:
    config = make_config(data={"name": "digits"}, model={"name": "mlp"}, loss={"name": loss}, k=2)
    scores = initial_model(config, digits, CPU)(torch.zeros(3, 1, 8, 8))
    pair = isinstance(scores, tuple)
    assert pair == (LOSSES[loss].head == "two_head")
    assert [tuple(each.shape) for each in (scores if pair else [scores])] == [(3, 10)] * (1 + pair)


def test_the_seed_decides_the_model_the_noise_of_the_loss_and_the_order_of_the_data(make_config: Any) -> None:
    def start(seed: int, dataset: Dataset) -> list[torch.Tensor]:
        config = make_config(loss={"name": "noised_topk_hinge"}, k=2, seed=seed)
        loss, noise = initial_loss(config, dataset, CPU)
        weight = initial_model(config, dataset, CPU).get_parameter("head.weight")
        batch = next(training_feed(config, dataset, CPU).epoch())
        value = loss(torch.zeros(4, 6), torch.arange(4))
        return [weight.detach(), value, noise.get_state(), batch.indices]

    dataset = load_dataset({"name": "circle", "per_class": 16}, seed=0)
    first = start(1, dataset)
    torch.manual_seed(9)
    assert all(map(torch.equal, first, start(1, dataset)))
    assert not any(map(torch.equal, first, start(2, dataset)))


def test_the_loss_has_the_hyperparameters_given_and_what_it_asks_of_the_data(make_config: Any, digits: Dataset) -> None:
    loss, _ = initial_loss(make_config(loss={"name": "avgk", "alpha": 0.25}, k=2), digits, CPU)
    assert isinstance(loss, AvgK)
    assert loss.alpha == 0.25
    estimating, _ = initial_loss(make_config(loss={"name": "role"}, k=2), digits, CPU)
    assert tuple(estimating.get_parameter("estimates").shape) == (90, 10)  # one row a training example
