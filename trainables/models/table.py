"""Models: a table from name to what is declared of a network that turns inputs into features. Nothing is built here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from setsweep.data.user_function import is_own
from setsweep.trainables.models import densenet, torchvision_models
from setsweep.trainables.models import small as small_models
from setsweep.trainables.models.declaration import ModelDeclaration
from setsweep.trainables.settings.rules import anything
from setsweep.trainables.settings.setting import Setting

if TYPE_CHECKING:
    from torch import nn

MODELS: dict[str, ModelDeclaration] = {
    declaration.name: declaration
    for declaration in (*small_models.DECLARATIONS, *densenet.DECLARATIONS, *torchvision_models.DECLARATIONS)
}


def declaration_of(settings: Mapping[str, Any]) -> ModelDeclaration:
    """What is declared of the model that the settings name: a row of the table, or a user's own.

    A user's own model, `package.module:function`, has the settings that are given; nothing is imported.
    """
    name = settings["name"]
    if is_own(name):
        own = {key: Setting(anything(), value) for key, value in settings.items() if key != "name"}
        return ModelDeclaration(name=name, about="Your own.", settings=own, backbone=partial(_own_backbone, name))
    return MODELS[name]


def _own_backbone(name: str, input_shape: tuple[int, ...], /, **settings: Any) -> tuple[nn.Module, int]:
    from setsweep.trainables.models.user import own_backbone

    return own_backbone(name, input_shape, **settings)
