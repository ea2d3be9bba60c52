"""The papers' training schedules by name, for ``training: {preset: NAME}`` in a study or in one run.

A preset fills in the settings of `training` that are not given. A study that gives other epochs keeps the schedule's
shape: the preset's milestones move in proportion. A study that names another optimiser takes nothing of the preset's.
What belongs to the model, the data or the loss (pretrained weights, image sizes, splits) is theirs to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsweep.losses.values import as_number, unknown


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One schedule.

    Args:
        name: in study files.
        paper: where it is from, and the model and data that it was used with.
        settings: by dotted path below `training`.
        ours: what the paper leaves open and this preset settles; empty where it leaves nothing.
    """

    name: str
    paper: str
    settings: Mapping[str, Any]
    ours: str = ""


_NESTEROV = {"optimizer.name": "sgd", "optimizer.momentum": 0.9, "optimizer.nesterov": True}
_CROP_AND_FLIP = {"augment.pad_crop": 4, "augment.flip": True}
_DENSENET = {
    "epochs": 300,
    "batch_size": 64,
    **_NESTEROV,
    "optimizer.lr": 0.1,
    "optimizer.weight_decay": 1e-4,
    "milestones": (150, 225),
    "gamma": 0.1,
    **_CROP_AND_FLIP,
}
_PLANTNET = {
    "epochs": 30,
    "batch_size": 32,
    **_NESTEROV,
    "optimizer.lr": 2e-3,
    "optimizer.weight_decay": 1e-4,
    "gamma": 0.1,
}
_SAWADA = {
    "epochs": 200,
    "batch_size": 128,
    **_NESTEROV,
    "optimizer.lr": 0.1,
    "optimizer.weight_decay": 5e-4,
    "milestones": (60, 120, 160),
    "gamma": 0.2,
    **_CROP_AND_FLIP,
}

_PRESETS = (
    Preset(
        name="noised_cifar100",
        paper="Garcin et al. (2022), section 4.4: DenseNet 40-40 on CIFAR-100",
        settings=_DENSENET,
        ours="the paper names no augmentation: crops with a border of 4 pixels and flips, as is usual for this network",
    ),
    Preset(
        name="noised_plantnet300k",
        paper="Garcin et al. (2022), section 4.5: pretrained ResNet-50 on Pl@ntNet-300K",
        settings={**_PLANTNET, "milestones": (20, 25)},
        ours="the paper names no augmentation: none but the data set's own crops",
    ),
    Preset(
        name="two_head_cifar100",
        paper="Garcin et al. (2023), section 6.2: DenseNet 40-40 on CIFAR-100",
        settings=_DENSENET,
        ours="the paper names no augmentation: crops with a border of 4 pixels and flips, as is usual for this network",
    ),
    Preset(
        name="two_head_plantnet300k",
        paper="Garcin et al. (2023), section 6.3: pretrained ResNet-18 on Pl@ntNet-300K",
        settings={**_PLANTNET, "milestones": (25,)},
        ours="the paper names no augmentation: none but the data set's own crops",
    ),
    Preset(
        name="sawada_cifar100_cutout",
        paper="Sawada et al. (2020), section V: ResNet-18 and DenseNet-121 on CIFAR-100, with Cutout",
        settings={**_SAWADA, "augment.cutout": 8},
    ),
    Preset(
        name="sawada_cifar100_mixup",
        paper="Sawada et al. (2020), section V: ResNet-18 and DenseNet-121 on CIFAR-100, with Mixup",
        settings={**_SAWADA, "augment.mixup": 1.0},
        ours="the paper names no alpha: 1, as Zhang et al. (2018) use on CIFAR",
    ),
    Preset(
        name="sawada_circle",
        paper="Sawada et al. (2020), section IV: linear models on points around a circle",
        settings={
            "epochs": 1000,
            "batch_size": "full",
            "optimizer.name": "sgd",
            "optimizer.lr": 1.0,
            "keep": "last",
            "evaluate_every": 100,
        },
        ours="the paper gives the epochs alone: plain full-batch descent at rate 1, the last weights",
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _PRESETS}


def check_preset(name: Any) -> Preset:
    """The preset of that name.

    Raises:
        ValueError: there is none; without a subject.
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(unknown("preset", name, PRESETS))
    return PRESETS[name]


def settings_added(preset: Preset, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a preset adds to the settings given.

    Args:
        preset: see `PRESETS`.
        given: by dotted path below `training`, unchecked.

    Returns:
        By dotted path, in their own types.
    """
    settings = dict(preset.settings)
    if given.get("optimizer.name", settings["optimizer.name"]) != settings["optimizer.name"]:
        settings = {path: value for path, value in settings.items() if not path.startswith("optimizer.")}
    epochs = as_number(given.get("epochs"))
    if "milestones" in settings and epochs is not None and epochs >= 1:
        settings["milestones"] = _stretched(settings["milestones"], epochs / settings["epochs"], epochs)
    return {path: value for path, value in settings.items() if path not in given}


def _stretched(milestones: Sequence[int], factor: float, epochs: float) -> tuple[int, ...]:
    """Milestones times a factor, as distinct epochs between the first and the last."""
    moved = {round(milestone * factor) for milestone in milestones}
    return tuple(sorted(milestone for milestone in moved if 1 <= milestone < epochs))
