"""A stacked seed group learns what each of its seeds learns alone, to rounding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from setsweep.losses import LOSSES
from setsweep.trainables.learners.solo import SoloLearner
from setsweep.trainables.learners.stacked import StackedLearner, clip_each

CPU = torch.device("cpu")
MODELS: dict[str, dict[str, Any]] = {
    "linear": {},
    "mlp": {"model": {"name": "mlp", "hidden": 8}},
    "small_cnn": {"data": {"name": "digits"}, "model": {"name": "small_cnn", "width": 4}},
}
TRAININGS: dict[str, dict[str, Any]] = {
    "sgd": {"optimizer": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3}},
    "adamw": {"optimizer": {"name": "adamw", "lr": 0.01, "weight_decay": 0.1}},
    "clipped gradients": {"clip_norm": 0.1},
    "averaged weights": {"ema": 0.9},
    "mixed examples": {"augment": {"mixup": 1}},
    "full batch": {"batch_size": "full"},
}


@pytest.fixture
def check_agreement(trained: Any) -> Any:
    """A function that checks a group against its seeds alone: losses to a relative 1e-4, weights to 1e-4 of the largest
    of their tensor.
    """

    def check(group: Any, steps: int = 10) -> None:
        together = StackedLearner(*group, CPU)
        losses = trained(together, *group, steps)
        assert losses.isfinite().all()
        for seed, (config, dataset) in enumerate(zip(*group, strict=True)):
            alone = SoloLearner(config, dataset, CPU)
            expected = trained(alone, [config], [dataset], steps)
            torch.testing.assert_close(losses[:, [seed]], expected, rtol=1e-4, atol=1e-6)
            weights, others = together.weights(seed), alone.weights(0)
            assert weights.keys() == others.keys()
            for name, values in others.items():
                scale = float(values.abs().max())
                torch.testing.assert_close(weights[name], values, rtol=0, atol=1e-4 * scale, msg=name)

    return check


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_seeds_agree_with_each_alone(loss: str, model: str, seed_group: Any, check_agreement: Any) -> None:
    training = {"optimizer": {"lr": 0.1}}
    group = seed_group(3, loss={"name": loss}, k=2, training=training, **MODELS[model])
    check_agreement(group, 3 if model == "small_cnn" else 10)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("training", TRAININGS)
def test_they_agree_in_whatever_way_they_are_trained(
    training: str, model: str, seed_group: Any, check_agreement: Any
) -> None:
    group = seed_group(3, training=TRAININGS[training], **MODELS[model])
    check_agreement(group, 3 if model == "small_cnn" else 10)


@pytest.mark.parametrize("name", ["normed", "repeated", "tied"])
@pytest.mark.usefixtures("own_models")
def test_models_of_ones_own_agree_too(name: str, seed_group: Any, check_agreement: Any) -> None:
    check_agreement(seed_group(3, model={"name": f"own_models:{name}"}))


def test_in_bfloat16_scores_agree_to_its_precision(seed_group: Any) -> None:
    configs, datasets = seed_group(3, training={"precision": "bfloat16"}, **MODELS["small_cnn"])
    inputs = datasets[0].val.inputs.float() / 16
    together = StackedLearner(configs, datasets, CPU).scores([inputs] * 3)
    for scores, config, dataset in zip(together, configs, datasets, strict=True):
        (alone,) = SoloLearner(config, dataset, CPU).scores([inputs])
        assert scores.dtype == torch.float32
        torch.testing.assert_close(scores, alone, rtol=0, atol=0.02 * float(alone.detach().abs().max()))


def test_a_seed_that_diverges_leaves_the_others_alone(seed_group: Any, trained: Any) -> None:
    group = seed_group(3, model={"name": "mlp", "hidden": 8})
    spoilt, sound = (StackedLearner(*group, CPU) for _ in range(2))
    weights = [spoilt.weights(seed) for seed in range(3)]
    weights[1]["head.weight"][0, 0] = torch.nan
    spoilt.load_weights(weights)
    losses, others = (trained(learner, *group, 5) for learner in (spoilt, sound))
    assert losses[:, 1].isnan().all()
    assert torch.equal(losses[:, [0, 2]], others[:, [0, 2]])
    assert spoilt.finite() == [True, False, True]


def test_each_seeds_gradient_is_clipped_by_its_own_norm() -> None:
    # by hand: norms over both weights of sqrt(3^2 + 4^2) = 5 and sqrt(0.3^2 + 0.4^2) = 0.5, clipped at 1
    weights = [nn.Parameter(torch.zeros(2, 1)), nn.Parameter(torch.zeros(2, 1, 1))]
    weights[0].grad = torch.tensor([[3.0], [0.3]])
    weights[1].grad = torch.tensor([[[4.0]], [[0.4]]])
    clip_each(weights, 1.0)
    torch.testing.assert_close(weights[0].grad, torch.tensor([[0.6], [0.3]]), rtol=1e-5, atol=0)
    torch.testing.assert_close(weights[1].grad, torch.tensor([[[0.8]], [[0.4]]]), rtol=1e-5, atol=0)
