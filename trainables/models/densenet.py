"""DenseNet for small images (Huang et al. 2017, "Densely Connected Convolutional Networks", section 4.2).

The papers' "DenseNet 40-40" is the one with bottlenecks and compression (DenseNet-BC): their code, and that of Berrada
et al. (2018) before them, builds the same public implementation with depth 40 and growth 40 and leaves both switched
on, as they are there by default. On 32 x 32 images and 100 classes it has 40 layers (3 blocks of 6 pairs of
convolutions, 3 more convolutions, the classifier), 1 941 620 parameters and 798 927 840 multiply-adds an image;
without bottlenecks and compression it would have 10 681 492 and 2 662 865 088.

The numbers of parameters agree with Huang et al.'s table 2 in all six of its configurations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from setsweep.trainables.models.declaration import ModelDeclaration
from setsweep.trainables.settings.rules import flag, whole
from setsweep.trainables.settings.setting import Setting

if TYPE_CHECKING:
    from torch import nn


BLOCKS = 3


def densenet(input_shape: tuple[int, ...], *, depth: int, growth: int, bottleneck: bool) -> tuple[nn.Module, int]:
    """Three dense blocks with transitions between them, then the global average.

    Weights start as in the published code: convolutions by He et al. (2015, normal, fan-out), batch normalisation by
    1 and 0.

    Args:
        input_shape: (channels, height, width), at least 4 x 4.
        depth: convolutions and the classifier, transitions included.
        growth: channels that each layer adds.
        bottleneck: DenseNet-BC: a 1x1 convolution to ``4 * growth`` channels before each 3x3 one, and transitions that
            halve the channels. False: the original, which starts from 16 channels instead of ``2 * growth``.

    Returns:
        The network, and the number of its features.

    Raises:
        ValueError: images too small for the two poolings.
    """
    from torch import nn

    from setsweep.trainables.models.layers import DenseLayer, convolution

    if min(input_shape[1:]) < 2 ** (BLOCKS - 1):
        raise ValueError(f"model densenet must get images of at least 4 x 4 pixels, got {tuple(input_shape)}.")
    layers = (depth - BLOCKS - 1) // BLOCKS // (2 if bottleneck else 1)
    channels = 2 * growth if bottleneck else 16
    stack: list[nn.Module] = [nn.Conv2d(input_shape[0], channels, 3, padding=1, bias=False)]
    for block in range(BLOCKS):
        if block > 0:
            after = channels // 2 if bottleneck else channels
            stack += [*convolution(channels, after, kernel=1), nn.AvgPool2d(2)]
            channels = after
        for _ in range(layers):
            stack.append(DenseLayer(channels, growth, bottleneck=bottleneck))
            channels += growth
    stack += [nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    network = nn.Sequential(*stack)
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return network, channels


def _unequal_blocks(settings: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """A depth that does not divide into equal blocks."""
    depth, bottleneck = settings["depth"], settings["bottleneck"]
    step = 2 * BLOCKS if bottleneck else BLOCKS
    if depth <= BLOCKS + 1 or (depth - BLOCKS - 1) % step:
        kind = "with" if bottleneck else "without"
        yield "depth", f"must be {BLOCKS + 1} plus a multiple of {step} {kind} bottlenecks, got {depth!r}."


DECLARATIONS = (
    ModelDeclaration(
        name="densenet_40_40",
        about="DenseNet-BC, depth 40, growth 40: the noised and the two-head paper's network for 32 x 32 images.",
        backbone=partial(densenet, depth=40, growth=40, bottleneck=True),
        images_only=True,
        zero_bias=True,
    ),
    ModelDeclaration(
        name="densenet",
        about="DenseNet for small images of any depth and growth (Huang et al. 2017), with or without bottlenecks.",
        settings={
            "depth": Setting(whole(1), 40, "all layers with weights"),
            "growth": Setting(whole(1), 40, "that each layer adds", unit="channels"),
            "bottleneck": Setting(flag(), True, "1x1 convolutions before the 3x3 ones, and compression: DenseNet-BC"),
        },
        backbone=densenet,
        contradictions=_unequal_blocks,
        images_only=True,
        zero_bias=True,
    ),
)
