"""What a model declares beside its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from setsweep.trainables.settings.setting import Setting

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class ModelDeclaration:
    """A model as study files and listings see it.

    Args:
        name: its name in study files.
        about: one sentence.
        settings: every setting of `model:` but the name.
        backbone: called as ``backbone(input_shape, **settings)``; gives the network and its number of features.
        contradictions: of legal settings, those that don't go together: the setting, and the rule that it breaks.
        images_only: whether inputs must be images (channels, height, width).
        zero_bias: whether the biases of the head start at 0 and not as PyTorch's.
    """

    name: str
    about: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    backbone: Callable[..., tuple[nn.Module, int]]
    contradictions: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]] = lambda settings: ()
    images_only: bool = False
    zero_bias: bool = False
