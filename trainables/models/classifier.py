"""The model of a run: the network that turns inputs into features, and the head that the loss asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from setsweep.losses.declaration import Head
from setsweep.trainables.models.heads import Scores, build_head
from setsweep.trainables.models.table import declaration_of


class Classifier(nn.Module):
    """Features, then a head. Scores are (batch, classes); a two-head model gives a pair of them."""

    def __init__(self, backbone: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, inputs: Tensor) -> Scores:
        """Scores of a batch of inputs."""
        scores: Scores = self.head(self.backbone(inputs))
        return scores


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
        settings: complete, see `trainables.config.sections`.
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
    declaration = declaration_of(settings)
    if declaration.images_only and len(input_shape) != 3:
        raise ValueError(f"model {declaration.name} must get images (channels, height, width), got {input_shape}.")
    if not pretrained and "pretrained" in declaration.settings:
        options["pretrained"] = ""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed, and start, every GPU as well
        backbone, features = declaration.backbone(input_shape, **options)
        bias = options["bias"] if "bias" in declaration.settings else True
        classifier = Classifier(backbone, build_head(head, features, num_classes, bias=bias))
    if declaration.zero_bias:
        for name, parameter in classifier.head.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
    return classifier
