"""Models: a table from name to the network that turns inputs into features, plus the head that the loss asks for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from setsweep.data.user_function import is_own
from setsweep.losses.declaration import Head
from setsweep.trainables.models import densenet, torchvision_models
from setsweep.trainables.models import small as small_models
from setsweep.trainables.models.declaration import ModelDeclaration
from setsweep.trainables.models.heads import build_head
from setsweep.trainables.models.user import check_own_model, own_backbone


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


MODELS: dict[str, ModelDeclaration] = {
    declaration.name: declaration
    for declaration in (*small_models.DECLARATIONS, *densenet.DECLARATIONS, *torchvision_models.DECLARATIONS)
}


def model_parameters(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings that a model takes, with their defaults; of one's own model: those it is given.

    Args:
        settings: with the name of a row of the table or of one's own function.
    """
    if is_own(settings["name"]):
        return {key: value for key, value in settings.items() if key != "name"}
    return MODELS[settings["name"]].parameters


def complete_model(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model with every default filled in; those of one's own model are taken as they are.

    Raises:
        ValueError: unknown model or setting, a value of another type, or out of range.
    """
    name = settings.get("name")
    if is_own(name):
        return check_own_model(settings)
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
    settings: Mapping[str, Any],
    *,
    head: Head,
    input_shape: tuple[int, ...],
    num_classes: int,
    seed: int,
    pretrained: bool = True,
) -> Classifier:
    """The model of one run, initialised from its seed alone.

    Args:
        settings: as `complete_model` gives them.
        head: the head that the loss declares.
        input_shape: of one example, without the batch.
        num_classes: number of scores.
        seed: of the initialisation; the global random state is left as it was.
        pretrained: False: without the pretrained weights that the settings name, because others follow.

    Raises:
        ValueError: an image model on inputs that are no images, or on images of a size that it can't take; pretrained
            weights that can't be had or don't fit; a model of one's own that can't be imported or breaks its rules.
    """
    options = {key: value for key, value in settings.items() if key != "name"}
    declaration = _declaration(settings["name"])
    if declaration.images_only and len(input_shape) != 3:
        raise ValueError(f"model {declaration.name} must get images (channels, height, width), got {input_shape}.")
    if not pretrained and "pretrained" in declaration.parameters:
        options["pretrained"] = ""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed, and start, every GPU as well
        backbone, features = declaration.backbone(input_shape, **options)
        bias = options["bias"] if "bias" in declaration.parameters else True
        classifier = Classifier(backbone, build_head(head, features, num_classes, bias=bias))
    if declaration.zero_bias:
        for name, parameter in classifier.head.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
    return classifier


def _declaration(name: str) -> ModelDeclaration:
    if is_own(name):
        return ModelDeclaration(name=name, about="One's own.", backbone=partial(own_backbone, name))
    return MODELS[name]
