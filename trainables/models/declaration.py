"""What a model declares beside its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn


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
        zero_bias: whether the biases of the head start at 0 and not as PyTorch's.
    """

    name: str
    about: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    backbone: Callable[..., tuple[nn.Module, int]]
    check: Callable[[Mapping[str, Any]], None] = lambda settings: None
    images_only: bool = False
    zero_bias: bool = False


def positive(*names: str) -> Callable[[Mapping[str, Any]], None]:
    """A check that these settings are at least 1."""

    def check(settings: Mapping[str, Any]) -> None:
        for name in names:
            if settings[name] < 1:
                raise ValueError(f"{name} must be >= 1, got {settings[name]!r}.")

    return check
