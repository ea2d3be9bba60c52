"""Small networks of several seeds at once: linear layers and ReLU, each with its weights stacked along a first axis.

Activations lie as (seeds, features, batch), every example a column: one batched product a layer, along whose rows, the
examples, a CPU's vector units work. Measured on one thread for 10 seeds of 2 -> 6 scores of 1800 examples, a layer
takes a tenth of the time that it takes with examples as rows, and what follows (softmax, masks) a quarter or less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from setsweep.trainables.models.heads import CosineHead, TwoHead

Weights = Mapping[str, Tensor]
Scores = Tensor | tuple[Tensor, Tensor]
Forward = Callable[[Weights, Tensor], Scores]


def forward_in_columns(model: nn.Module) -> Forward | None:
    """How several seeds of a model compute their scores, or None where it has other layers than those known here.

    Args:
        model: a `trainables.models.table.Classifier`; its weights are not used.

    Returns:
        A function of stacked weights by name, each (seeds, ...), and of inputs (seeds, batch, ...). It gives scores
        (seeds, batch, classes), or a pair of them.
    """
    backbone = _layers(model.get_submodule("backbone"), "backbone.")
    head = _head(model.get_submodule("head"), "head.")
    if backbone is None or head is None:
        return None

    def forward(weights: Weights, inputs: Tensor) -> Scores:
        columns = inputs.flatten(2).transpose(1, 2).contiguous()  # already so if from `stack_columns`
        for layer in [*backbone, head]:
            columns = layer(weights, columns)
        if type(model.get_submodule("head")) is not TwoHead:
            return columns.transpose(1, 2)
        ml, sccp = columns.chunk(2, dim=1)
        return ml.transpose(1, 2), sccp.transpose(1, 2)

    return forward


def stack_columns(inputs: Sequence[Tensor]) -> Tensor:
    """Inputs of each seed, (batch, ...), as (seeds, batch, features) with the examples along columns in memory."""
    return torch.stack([each.flatten(1).t() for each in inputs]).transpose(1, 2)


Layer = Callable[[Weights, Tensor], Tensor]


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

    def layer(weights: Weights, columns: Tensor) -> Tensor:
        weight = _joined([weights[f"{path}weight"] for path in paths])
        if f"{paths[0]}bias" not in weights:
            return torch.bmm(weight, columns)
        bias = _joined([weights[f"{path}bias"] for path in paths])
        return torch.baddbmm(bias.unsqueeze(2), weight, columns)

    return layer


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)


def _cosine(path: str) -> Layer:
    def layer(weights: Weights, columns: Tensor) -> Tensor:
        return torch.bmm(normalize(weights[f"{path}weight"], dim=2), normalize(columns, dim=1))

    return layer
