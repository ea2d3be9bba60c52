"""Multilayer perceptrons of several seeds by batched products: the scores of each, and no others are taken for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from setsweep.losses.declaration import Head
from setsweep.trainables.learners.batched_mlp import batched_mlp, stack_feature_major
from setsweep.trainables.learners.model_stack import stack_models
from setsweep.trainables.models.classifier import Classifier
from setsweep.trainables.models.heads import Scores, build_head


def _backbone(kind: str) -> tuple[nn.Module, tuple[int, ...], int]:
    """A network, the shape of its inputs and the number of its features."""
    if kind == "nothing":
        return nn.Identity(), (4,), 4
    if kind == "flattened images":
        return nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU()), (3, 2, 2), 5
    bias = kind == "layers within layers"
    inner = nn.Sequential(nn.Linear(6, 5, bias=bias), nn.Identity(), nn.ReLU())
    return nn.Sequential(nn.Linear(4, 6, bias=bias), nn.ReLU(inplace=True), inner), (4,), 5


def _models(kind: str, head: Head, number: int = 3) -> tuple[list[Classifier], tuple[int, ...]]:
    torch.manual_seed(0)
    built = [_backbone(kind) for _ in range(number)]
    return [Classifier(network, build_head(head, features, 7)) for network, _, features in built], built[0][1]


def _pairs(scores: Scores) -> Sequence[Tensor]:
    return scores if isinstance(scores, tuple) else (scores,)


@pytest.mark.parametrize("head", get_args(Head))
@pytest.mark.parametrize("kind", ["nothing", "flattened images", "layers within layers", "no biases"])
@pytest.mark.parametrize("feature_major", [True, False])
def test_scores_and_gradients_are_those_of_each_model(kind: str, head: Head, feature_major: bool) -> None:
    models, shape = _models(kind, head)
    inputs = torch.randn(3, 11, *shape, dtype=torch.float32)
    stack = stack_models(models)
    forward = batched_mlp(stack)
    assert forward is not None
    together = _pairs(forward(dict(stack.named_parameters()), stack_feature_major(inputs) if feature_major else inputs))
    sum(each.sin().sum() for each in together).backward()  # type: ignore[union-attr]
    for number, model in enumerate(models):
        alone = _pairs(model(inputs[number]))
        for one, other in zip(together, alone, strict=True):
            torch.testing.assert_close(one[number], other, rtol=0, atol=1e-5)  # float32 sums of at most 12 terms
        sum(each.sin().sum() for each in alone).backward()  # type: ignore[union-attr]
        for name, parameter in model.named_parameters():
            gradient = stack.get_parameter(name).grad
            assert gradient is not None
            assert parameter.grad is not None
            torch.testing.assert_close(gradient[number], parameter.grad, rtol=0, atol=1e-4)


class Doubled(nn.Linear):
    """A layer that is no linear layer, though it is one by its class."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Twice what it would be."""
        return 2 * super().forward(inputs)


@pytest.mark.parametrize(
    "backbone",
    [nn.Dropout(), nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Sequential(nn.Sequential(Doubled(4, 4))), nn.GELU()],
    ids=lambda backbone: str(backbone).replace("\n", ""),
)
def test_other_layers_are_left_to_others(backbone: nn.Module) -> None:
    assert batched_mlp(Classifier(backbone, nn.Linear(4, 7))) is None
    assert batched_mlp(Classifier(nn.Identity(), Doubled(4, 7))) is None


@pytest.mark.parametrize(
    "backbone",
    [
        nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Flatten()),  # along the last axis of an image
        nn.Sequential(nn.Flatten(2), nn.Linear(4, 4), nn.Flatten()),  # of each channel by itself
        nn.Sequential(nn.Flatten(1, 2), nn.Linear(2, 2), nn.Flatten()),
    ],
    ids=["linear first", "from the second axis", "to the second axis"],
)
def test_linear_layers_along_an_axis_of_images_are_left_to_others(backbone: nn.Module) -> None:
    assert batched_mlp(Classifier(backbone, nn.Linear(12, 7))) is None


def test_stacked_inputs_are_those_of_each_seed_with_the_examples_next_to_each_other() -> None:
    inputs = [torch.randn(11, 3, 2) for _ in range(4)]
    stacked = stack_feature_major(inputs)
    assert torch.equal(stacked, torch.stack(inputs).flatten(2))
    assert stacked.stride(1) == 1
