"""Torchvision's networks without their classifiers, on images of any size and number of channels.

Each has two stems. ``imagenet`` is torchvision's own, which makes large images 4 times smaller before anything else.
``small`` is for 32 x 32: a 3x3 convolution with stride 1 and no pooling for ResNet and DenseNet, patches of 4 x 4 for
the ViT. ``auto`` takes ``small`` for images with a side below 64 pixels. All weights start as torchvision's do.

Torchvision is imported when a network is built: that takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from setsweep.trainables.models.declaration import ModelDeclaration
from setsweep.trainables.models.pretrained import load_pretrained, pretrained_rule
from setsweep.trainables.settings.rules import one_of, whole
from setsweep.trainables.settings.setting import Setting

if TYPE_CHECKING:
    from torch import nn

STEMS = ("auto", "imagenet", "small")
SMALL = 64  # pixels: images with a side below get the small stem
WEIGHTS = {
    "resnet18": ("IMAGENET1K_V1",),
    "resnet34": ("IMAGENET1K_V1",),
    "resnet50": ("IMAGENET1K_V1", "IMAGENET1K_V2"),
    "densenet121": ("IMAGENET1K_V1",),
    "densenet169": ("IMAGENET1K_V1",),
    "vit_b_16": ("IMAGENET1K_V1", "IMAGENET1K_SWAG_E2E_V1", "IMAGENET1K_SWAG_LINEAR_V1"),
}


def backbone(
    input_shape: tuple[int, ...], *, name: str, stem: str, pretrained: str, **options: Any
) -> tuple[nn.Module, int]:
    """One of torchvision's networks without its classifier, and its number of features.

    Args:
        input_shape: (channels, height, width).
        name: torchvision's.
        stem: see above.
        pretrained: see `trainables.models.pretrained`; "": none.
        options: that this network alone has.

    Raises:
        ValueError: images of a size that the network can't take; pretrained weights that can't be had or don't fit.
    """
    small = stem == "small" or (stem == "auto" and min(input_shape[1:]) < SMALL)
    if small and pretrained in WEIGHTS[name]:
        raise ValueError(
            f"model.stem must be imagenet for pretrained {pretrained}, got {stem!r} with images of shape {input_shape}."
        )
    network, features = BUILDERS[name](name, input_shape, small=small, **options)
    if pretrained:
        load_pretrained(network, pretrained, architecture=name)
    return network, features


def _resnet(name: str, input_shape: tuple[int, ...], *, small: bool) -> tuple[nn.Module, int]:
    """He et al. (2016); with the small stem as usual on CIFAR, its 4 stages at 32, 16, 8 and 4 pixels."""
    import torchvision
    from torch import nn

    network = torchvision.models.get_model(name)
    features = int(network.fc.in_features)
    network.fc = nn.Identity()
    network.conv1 = _first(network.conv1, input_shape[0], small=small, mode="fan_out")
    if small:
        network.maxpool = nn.Identity()
    return network, features


def _densenet(name: str, input_shape: tuple[int, ...], *, small: bool) -> tuple[nn.Module, int]:
    """Huang et al. (2017, table 1); with the small stem its 4 blocks at 32, 16, 8 and 4 pixels."""
    import torchvision
    from torch import nn

    least = 8 if small else 29  # leaves one pixel after the poolings
    if min(input_shape[1:]) < least:
        raise ValueError(f"model {name} must get images of at least {least} x {least} pixels, got {input_shape}.")
    network = torchvision.models.get_model(name)
    features = int(network.classifier.in_features)
    network.classifier = nn.Identity()
    network.features.conv0 = _first(network.features.conv0, input_shape[0], small=small, mode="fan_in")
    if small:
        network.features.pool0 = nn.Identity()
    return network, features


def _vit(name: str, input_shape: tuple[int, ...], *, small: bool, layers: int) -> tuple[nn.Module, int]:
    """Dosovitskiy et al. (2021), base size."""
    from torch import nn
    from torchvision.models import VisionTransformer

    channels, height, width = input_shape
    patch, features = (4 if small else 16), 768
    if height != width or height % patch:
        raise ValueError(f"model {name} must get squares of a multiple of {patch} pixels a side, got {input_shape}.")
    network = VisionTransformer(
        image_size=height, patch_size=patch, num_layers=layers, num_heads=12, hidden_dim=features, mlp_dim=4 * features
    )
    network.heads = nn.Identity()
    if channels != 3:
        network.conv_proj = nn.Conv2d(channels, features, patch, stride=patch)
        nn.init.trunc_normal_(network.conv_proj.weight, std=math.sqrt(1 / (channels * patch**2)))
        nn.init.zeros_(network.conv_proj.bias)
    return network, features


def _first(convolution: nn.Conv2d, channels: int, *, small: bool, mode: Literal["fan_in", "fan_out"]) -> nn.Conv2d:
    """The first convolution for that many channels: as it is, or 3x3 with stride 1."""
    from torch import nn

    if not small and channels == convolution.in_channels:
        return convolution
    kernel, stride = (3, 1) if small else (convolution.kernel_size[0], convolution.stride[0])
    first = nn.Conv2d(channels, convolution.out_channels, kernel, stride, padding=kernel // 2, bias=False)
    nn.init.kaiming_normal_(first.weight, mode=mode, nonlinearity="relu")
    return first


def _stem_of_other_weights(settings: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Downloaded weights are of torchvision's own stem."""
    if settings["stem"] == "small" and settings["pretrained"] in WEIGHTS[settings["name"]]:
        yield "stem", f"must be imagenet for pretrained {settings['pretrained']}, got 'small'."


BUILDERS: dict[str, Callable[..., tuple[nn.Module, int]]] = {
    "resnet18": _resnet,
    "resnet34": _resnet,
    "resnet50": _resnet,
    "densenet121": _densenet,
    "densenet169": _densenet,
    "vit_b_16": _vit,
}


def _declaration(name: str, about: str, **others: Setting) -> ModelDeclaration:
    return ModelDeclaration(
        name=name,
        about=about,
        settings={
            "stem": Setting(one_of(*STEMS), "auto", "first layers: for images below 64 pixels, or torchvision's own"),
            "pretrained": Setting(pretrained_rule(WEIGHTS[name]), "", "weights to start from"),
            **others,
        },
        backbone=partial(backbone, name=name),
        contradictions=_stem_of_other_weights,
        images_only=True,
        zero_bias=BUILDERS[name] is _densenet,
    )


DECLARATIONS = (
    _declaration("resnet18", "ResNet-18: the two-head paper's network for large images; Sawada's for small ones."),
    _declaration("resnet34", "ResNet-34, for large images."),
    _declaration("resnet50", "ResNet-50: the noised paper's network for large images."),
    _declaration("densenet121", "DenseNet-121, for large images; Sawada's for small ones."),
    _declaration("densenet169", "DenseNet-169, for large images."),
    _declaration(
        "vit_b_16", "Vision Transformer of base size, on patches of 16 x 16.", layers=Setting(whole(1), 12, "blocks")
    ),
)
