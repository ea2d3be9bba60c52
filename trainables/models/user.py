"""A user's own model: a function named ``package.module:function`` in `model.name`.

It is called as ``function(input_shape, **settings)`` with the shape of one example and the other settings of the
`model` section, and gives a network and its number of features. The network turns a batch of inputs into features
(batch, features); the head that the loss asks for is put on top.

    def two_layers(input_shape, *, width=64):
        network = nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), width), nn.ReLU())
        return network, width

Settings are plain data, taken as they stand. A run's key knows the name and the settings but not the code: where the
code changes, change one of them, or results of the old code are taken for results of the new one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from setsweep.data.user_function import own_function


def own_backbone(name: str, input_shape: tuple[int, ...], /, **settings: Any) -> tuple[nn.Module, int]:
    """What the user's function gives, tried on one example.

    Raises:
        ValueError: no such function, or what it gives breaks the rules above.
    """
    match own_function(name, "model", [input_shape], settings)():
        case (nn.Module() as network, int(features)):
            _try(name, network, features, input_shape)
            return network, features
        case other:
            raise ValueError(f"model.name: {name} must give (network, number of features), got {_described(other)}.")


def _try(name: str, network: nn.Module, features: int, input_shape: tuple[int, ...]) -> None:
    """One example through the network and back; its modes and buffers stay as they are."""
    frozen = [key for key, parameter in network.named_parameters() if not parameter.requires_grad]
    if frozen:
        raise ValueError(f"model.name: {name} must keep weights that don't learn as buffers, got {frozen[0]} frozen.")
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    outputs = network(torch.zeros(1, *input_shape))
    for module, mode in modes:
        module.training = mode
    if not isinstance(outputs, Tensor) or outputs.shape != (1, features):
        raise ValueError(
            f"model.name: {name} must give features (1, {features}) for one example, got {_described(outputs)}."
        )
    unused = _unused(network, outputs)
    if unused:
        raise ValueError(f"model.name: {name} must use every parameter for its features, got {unused[0]} unused.")


def _unused(network: nn.Module, outputs: Tensor) -> list[str]:
    """The parameters that the outputs don't depend on."""
    names, parameters = zip(*network.named_parameters(), strict=True) if [*network.parameters()] else ((), ())
    if not outputs.requires_grad:
        return list(names)
    gradients = torch.autograd.grad(outputs.sum(), parameters, allow_unused=True)
    return [name for name, gradient in zip(names, gradients, strict=True) if gradient is None]


def _described(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, tuple):
        return f"({', '.join(type(each).__name__ for each in value)})"
    return type(value).__name__
