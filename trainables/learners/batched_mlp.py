"""The multilayer perceptrons of a seed group by batched matrix products: one product a layer for all seeds.

Weights have a first axis of seeds. Activations are feature-major, (seeds, features, batch), every example a column, so
that a CPU's vector units work along the examples. Measured on one thread for 10 seeds of 2 -> 6 scores of 1800
examples, a layer takes a tenth of the time that it takes with examples as rows, and what follows (softmax, masks) a
quarter or less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from setsweep.trainables.models.heads import CosineHead, Scores, TwoHead

StackedWeights = Mapping[str, Tensor]
Forward = Callable[[StackedWeights, Tensor], Scores]


def batched_mlp(model: nn.Module) -> Forward | None:
    """How a seed group computes the scores of such models, or None where they have other layers than linear and ReLU.

    Args:
        model: a `trainables.models.table.Classifier`; its weights are not used.

    Returns:
        A function of stacked weights by name, each (seeds, ...), and of inputs (seeds, batch, ...). It gives scores
        (seeds, batch, classes), or a pair of them.
    """
    network = model.get_submodule("backbone")
    backbone = _layers(network, "backbone.") if _flattens_first(network) else None
    head = _head(model.get_submodule("head"), "head.")
    if backbone is None or head is None:
        return None

    def forward(weights: StackedWeights, inputs: Tensor) -> Scores:
        columns = inputs.flatten(2).transpose(1, 2).contiguous()  # already so if from `stack_feature_major`
        for layer in [*backbone, head]:
            columns = layer(weights, columns)
        if type(model.get_submodule("head")) is not TwoHead:
            return columns.transpose(1, 2)
        ml, sccp = columns.chunk(2, dim=1)
        return ml.transpose(1, 2), sccp.transpose(1, 2)

    return forward


def stack_feature_major(inputs: Sequence[Tensor]) -> Tensor:
    """Inputs of each seed, (batch, ...), as (seeds, batch, features), feature-major in memory."""
    return torch.stack([each.flatten(1).t() for each in inputs]).transpose(1, 2)


Layer = Callable[[StackedWeights, Tensor], Tensor]


def _flattens_first(backbone: nn.Module) -> bool:
    """Whether its layers see flat inputs: those of a linear layer before `Flatten` are the last axis of an image."""
    kinds = [type(each) for each in _leaves(backbone)]
    if nn.Flatten not in kinds:
        return True
    flat = all(each.start_dim == 1 and each.end_dim == -1 for each in _leaves(backbone) if isinstance(each, nn.Flatten))
    return flat and nn.Linear not in kinds[: kinds.index(nn.Flatten)]


def _leaves(module: nn.Module) -> list[nn.Module]:
    return [each for _, each in module.named_modules(remove_duplicate=False) if next(each.children(), None) is None]


def _layers(module: nn.Module, path: str) -> list[Layer] | None:
    """The layers of a backbone; exact types only, because a subclass may compute something else."""
    if type(module) in (nn.Identity, nn.Flatten):
        return []
    if type(module) is nn.ReLU:
        return [lambda weights, columns: columns.relu()]
    if type(module) is nn.Linear:
        return [_linear(path)]
    if type(module) is not nn.Sequential:
        return None
    layers: list[Layer] = []
    for name, child in module.named_children():
        inner = _layers(child, f"{path}{name}.")
        if inner is None:
            return None
        layers += inner
    return layers


def _head(module: nn.Module, path: str) -> Layer | None:
    """The head as one layer; of two heads the scores of the second follow those of the first."""
    if type(module) is nn.Linear:
        return _linear(path)
    if type(module) is TwoHead:
        return _linear(f"{path}ml.", f"{path}sccp.")
    return _cosine(path) if type(module) is CosineHead else None


def _linear(*paths: str) -> Layer:
    """Linear layers of the same inputs as one."""

    def layer(weights: StackedWeights, columns: Tensor) -> Tensor:
        weight = _joined([weights[f"{path}weight"] for path in paths])
        if f"{paths[0]}bias" not in weights:
            return torch.bmm(weight, columns)
        bias = _joined([weights[f"{path}bias"] for path in paths])
        return torch.baddbmm(bias.unsqueeze(2), weight, columns)

    return layer


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)


def _cosine(path: str) -> Layer:
    def layer(weights: StackedWeights, columns: Tensor) -> Tensor:
        return torch.bmm(normalize(weights[f"{path}weight"], dim=2), normalize(columns, dim=1))

    return layer
