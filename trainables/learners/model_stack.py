"""Several models of one architecture as one, whose weights and buffers have a first axis of models."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from setsweep.trainables.learners.batched_mlp import batched_mlp, stack_feature_major
from setsweep.trainables.models.heads import Scores


def stack_models(models: Sequence[nn.Module]) -> nn.Module:
    """A module whose state dict has the names of the models', each with the values of all of them stacked.

    Its own forward is of no use: see `StackedNetwork`.

    Args:
        models: of one architecture, on one device; their weights are copied.
    """
    stack = copy.deepcopy(models[0])
    parameters, buffers = stack_module_state(list(models))
    stacked = parameters | buffers
    for name, tensor in [*stack.named_parameters(), *stack.named_buffers()]:
        tensor.data = stacked[name].detach()  # in place: a tensor that layers share stays shared
    return stack


class StackedNetwork:
    """Computes the scores of each of the stacked models for its own inputs.

    Linear layers and ReLU are computed as batched products (see `trainables.learners.batched_mlp`), all other models by
    ``torch.func.vmap``, which on a CPU is no faster than one model after another.

    Args:
        stack: see `stack_models`. Its weights may change later, in place.
    """

    def __init__(self, stack: nn.Module) -> None:
        self._stack = stack
        self._tensors = _tensors(stack)
        self._mlp = batched_mlp(stack)

    def __call__(self, inputs: Tensor) -> Scores:
        """Scores (models, batch, classes) of inputs (models, batch, ...), or a pair of them; batch normalisation writes
        to its own model's buffers.

        Raises:
            RuntimeError: the model draws random numbers, or decides by values what to compute.
        """
        if self._mlp is not None:
            return self._mlp(self._tensors, inputs)
        scores: Scores = vmap(self._of_one)(self._tensors, inputs)
        return scores

    def stack(self, inputs: Sequence[Tensor]) -> Tensor:
        """Inputs of each model as one tensor, in the layout that is fastest here."""
        if all(each.is_set_to(inputs[0]) for each in inputs):
            return inputs[0].expand(len(inputs), *inputs[0].shape)
        return torch.stack(list(inputs)) if self._mlp is None else stack_feature_major(inputs)

    def _of_one(self, tensors: dict[str, Tensor], inputs: Tensor) -> Scores:
        scores: Scores = functional_call(self._stack, tensors, (inputs,), tie_weights=False)
        return scores


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name: one that several layers share by each name, a layer used twice by one name."""
    return {
        f"{path}.{name}".lstrip("."): tensor
        for path, layer in module.named_modules()
        for own in (layer.named_parameters, layer.named_buffers)
        for name, tensor in own(recurse=False, remove_duplicate=False)
    }
