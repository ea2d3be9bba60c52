"""What a study can ask for in `training.augment`; what it does is in `data.augment`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from setsweep.data.declaration import SETTING, DataSetting


def _setting(default: float | bool, unit: str, about: str) -> Any:
    low = None if isinstance(default, bool) else 0
    return field(
        default=default, metadata={SETTING: DataSetting(default=default, low=low, unit=unit, about=about, later=True)}
    )


@dataclass(frozen=True)
class Augmentation:
    """What is done to training images; the defaults do nothing."""

    pad_crop: int = _setting(0, "pixels", "zero padding on each side before a random crop")
    flip: bool = _setting(False, "", "exchange left and right with probability 1/2")
    cutout: int = _setting(0, "pixels", "side of the masked square")
    mixup: float = _setting(0.0, "", "alpha of the Beta distribution of the mixing weight")
