"""Small models: a linear layer, a multilayer perceptron, a convolutional network for small images."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from setsweep.trainables.models.declaration import ModelDeclaration
from setsweep.trainables.settings.rules import flag, whole
from setsweep.trainables.settings.setting import Setting

if TYPE_CHECKING:
    from torch import nn


def linear(input_shape: tuple[int, ...], *, bias: bool) -> tuple[nn.Module, int]:
    """The flattened inputs: the head is the whole model, and `bias` is the head's."""
    from torch import nn

    return (nn.Identity() if len(input_shape) == 1 else nn.Flatten()), math.prod(input_shape)


def mlp(input_shape: tuple[int, ...], *, hidden: int, layers: int, bias: bool) -> tuple[nn.Module, int]:
    """`layers` hidden layers of `hidden` ReLU units each."""
    from torch import nn

    widths = [math.prod(input_shape)] + [hidden] * layers
    stack: list[nn.Module] = [nn.Flatten()] if len(input_shape) > 1 else []
    for before, after in itertools.pairwise(widths):
        stack += [nn.Linear(before, after, bias=bias), nn.ReLU()]
    return nn.Sequential(*stack), hidden


def small_cnn(input_shape: tuple[int, ...], *, width: int) -> tuple[nn.Module, int]:
    """Three 3x3 convolutions of `width`, twice and four times `width` channels, then the global average."""
    from torch import nn

    from setsweep.trainables.models.layers import ChannelsLast

    stack: list[nn.Module] = [ChannelsLast()]
    channels = input_shape[0]
    for block, out in enumerate((width, 2 * width, 4 * width)):
        stack += [nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out)]
        if block < 2:
            stack.append(nn.MaxPool2d(2))  # before the ReLU: the same values from a quarter of the work
        stack.append(nn.ReLU(inplace=True))
        channels = out
    return nn.Sequential(*stack, nn.AdaptiveAvgPool2d(1), nn.Flatten()), channels


BIAS = Setting(flag(), True, "whether layers add a bias")

DECLARATIONS = (
    ModelDeclaration(
        name="linear",
        about="One linear layer on the flattened inputs (Sawada's experiments 1 and 2 without bias).",
        settings={"bias": BIAS},
        backbone=linear,
    ),
    ModelDeclaration(
        name="mlp",
        about="Hidden layers of ReLU units, then the head (Sawada's experiment 3: one layer, no bias).",
        settings={
            "hidden": Setting(whole(1), 128, "of each hidden layer", unit="units"),
            "layers": Setting(whole(1), 1, "hidden layers"),
            "bias": BIAS,
        },
        backbone=mlp,
    ),
    ModelDeclaration(
        name="small_cnn",
        about="Three 3x3 convolutions with batch normalisation, two poolings, global average: small images on a CPU.",
        settings={"width": Setting(whole(1), 32, "of the first convolution; it doubles twice", unit="channels")},
        backbone=small_cnn,
        images_only=True,
    ),
)
