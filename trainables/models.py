"""Models: a table from name to the network that turns inputs into features, plus the head that the loss asks for."""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from losses.declaration import Head
from trainables.heads import build_head


@dataclass(frozen=True, kw_only=True)
class ModelDeclaration:
    """A model as study files and listings see it.

    Args:
        name: its name in study files.
        about: one sentence.
        parameters: every setting with its default, whose type is the setting's type.
        backbone: called as ``backbone(input_shape, **settings)``; gives the network and its number of features.
        check: raises ValueError for settings out of range.
        images_only: whether inputs must be images (channels, height, width).
    """

    name: str
    about: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    backbone: Callable[..., tuple[nn.Module, int]]
    check: Callable[[Mapping[str, Any]], None] = lambda settings: None
    images_only: bool = False


class Classifier(nn.Module):
    """Features, then a head. Scores are (batch, classes); a two-head model gives a pair of them."""

    def __init__(self, backbone: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, inputs: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Scores of a batch of inputs."""
        scores: Tensor | tuple[Tensor, Tensor] = self.head(self.backbone(inputs))
        return scores


def _linear(input_shape: tuple[int, ...], *, bias: bool) -> tuple[nn.Module, int]:
    return (nn.Identity() if len(input_shape) == 1 else nn.Flatten()), math.prod(input_shape)


def _mlp(input_shape: tuple[int, ...], *, hidden: int, layers: int, bias: bool) -> tuple[nn.Module, int]:
    widths = [math.prod(input_shape)] + [hidden] * layers
    stack: list[nn.Module] = [nn.Flatten()] if len(input_shape) > 1 else []
    for before, after in itertools.pairwise(widths):
        stack += [nn.Linear(before, after, bias=bias), nn.ReLU()]
    return nn.Sequential(*stack), hidden


class ChannelsLast(nn.Module):
    """The same images with the channels of a pixel side by side in memory.

    The layers after it keep that layout. Measured on one CPU thread, `small_cnn` trains in 3/4 of the time with it and
    evaluates in half; most of that is saved by the poolings.
    """

    def forward(self, images: Tensor) -> Tensor:
        """Images (batch, channels, height, width), of the same shape and values."""
        return images.contiguous(memory_format=torch.channels_last)


def _small_cnn(input_shape: tuple[int, ...], *, width: int) -> tuple[nn.Module, int]:
    stack: list[nn.Module] = [ChannelsLast()]
    channels = input_shape[0]
    for block, out in enumerate((width, 2 * width, 4 * width)):
        stack += [nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out)]
        if block < 2:
            stack.append(nn.MaxPool2d(2))  # before the ReLU: the same values from a quarter of the work
        stack.append(nn.ReLU(inplace=True))
        channels = out
    return nn.Sequential(*stack, nn.AdaptiveAvgPool2d(1), nn.Flatten()), channels


def _check_positive(*names: str) -> Callable[[Mapping[str, Any]], None]:
    def check(settings: Mapping[str, Any]) -> None:
        for name in names:
            if settings[name] < 1:
                raise ValueError(f"{name} must be >= 1, got {settings[name]!r}.")

    return check


_TABLE = (
    ModelDeclaration(
        name="linear",
        about="One linear layer on the flattened inputs (Sawada's experiments 1 and 2 without bias).",
        parameters={"bias": True},
        backbone=_linear,
    ),
    ModelDeclaration(
        name="mlp",
        about="Hidden layers of ReLU units, then the head (Sawada's experiment 3: one layer, no bias).",
        parameters={"hidden": 128, "layers": 1, "bias": True},
        backbone=_mlp,
        check=_check_positive("hidden", "layers"),
    ),
    ModelDeclaration(
        name="small_cnn",
        about="Three 3x3 convolutions with batch normalisation, two poolings, global average: small images on a CPU.",
        parameters={"width": 32},
        backbone=_small_cnn,
        check=_check_positive("width"),
        images_only=True,
    ),
)
MODELS: dict[str, ModelDeclaration] = {declaration.name: declaration for declaration in _TABLE}


def complete_model(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model with every default filled in.

    Raises:
        ValueError: unknown model or setting, a value of another type, or out of range.
    """
    name = settings.get("name")
    if name not in MODELS:
        raise ValueError(f"model.name: unknown model {name!r}.{_nearest(name, MODELS)}")
    declaration = MODELS[name]
    complete: dict[str, Any] = {"name": name, **declaration.parameters}
    for key, value in settings.items():
        if key == "name":
            continue
        if key not in declaration.parameters:
            raise ValueError(f"model.{key}: {name} has no such setting.{_nearest(key, declaration.parameters)}")
        default = declaration.parameters[key]
        if type(value) is not type(default):
            raise ValueError(f"model.{key} must be of type {type(default).__name__}, got {value!r}.")
        complete[key] = value
    try:
        declaration.check(complete)
    except ValueError as error:
        raise ValueError(f"model.{error}") from None
    return complete


def _nearest(name: object, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"{hint} Known: {', '.join(sorted(known)) or 'none'}."


def build_model(
    settings: Mapping[str, Any], *, head: Head, input_shape: tuple[int, ...], num_classes: int, seed: int
) -> Classifier:
    """The model of one run, initialised from its seed alone (PyTorch's default initialisation).

    Args:
        settings: as `complete_model` gives them.
        head: the head that the loss declares.
        input_shape: of one example, without the batch.
        num_classes: number of scores.
        seed: of the initialisation; the global random state is left as it was.

    Raises:
        ValueError: an image model on inputs that are no images.
    """
    options = {key: value for key, value in settings.items() if key != "name"}
    declaration = MODELS[settings["name"]]
    if declaration.images_only and len(input_shape) != 3:
        raise ValueError(f"model {declaration.name} must get images (channels, height, width), got {input_shape}.")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed, and start, every GPU as well
        backbone, features = declaration.backbone(input_shape, **options)
        return Classifier(backbone, build_head(head, features, num_classes, bias=options.get("bias", True)))
