"""The one form in which every data set reaches training: three splits of tensors and what is known of the classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from setsweep.data.image_files import ImageFiles


@dataclass(frozen=True)
class Split:
    """One split of a data set.

    Args:
        inputs: (n, features) float32, or images (n, channels, height, width) uint8, or n images that stay files until
            they are needed. Never written to: it may be shared.
        labels: (n,) int64 class indices.
    """

    inputs: Tensor | ImageFiles
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Dataset:
    """A data set, ready to train on.

    Args:
        train, val, test: the splits; `val` chooses epochs, thresholds and hyperparameters, `test` only reports.
        num_classes: number of classes of the scores.
        mean, std: per channel, for images in 0..1; None where the inputs need no normalisation.
        superclasses: (num_classes,) int64 group of each class, or None; label noise stays within a group.
        class_names: one name a class, or empty.
        crop: side of the square window of an image that a model is given: a random one in training, the one in the
            middle in evaluation. None: images as they are.
    """

    train: Split
    val: Split
    test: Split
    num_classes: int
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    superclasses: Tensor | None = None
    class_names: tuple[str, ...] = ()
    crop: int | None = None

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Of one example as a model is given it: (features,) or (channels, height, width)."""
        stored = tuple(self.train.inputs.shape[1:]) if isinstance(self.train.inputs, Tensor) else (3,)
        return stored if self.crop is None else (stored[0], self.crop, self.crop)


@dataclass(frozen=True, kw_only=True)
class DatasetDeclaration:
    """A data set as study files and listings see it.

    Args:
        name: its name in study files.
        about: one sentence: what it is, how many examples and classes.
        source: where it comes from (citation or package).
        parameters: every setting of `data:` that decides the result, with its default. The type of the default
            is the type of the setting (None: an optional number).
        load: called as ``load(root=..., download=..., **settings)``, where `drawn_per_seed` as
            ``load(seed=..., **settings)``; `label_noise` is left out, it is applied to what this gives.
        drawn_per_seed: the data is drawn anew from each run's seed (synthetic data), so it is never shared.
        check: called with all settings; raises ValueError for those that are out of range.
        num_classes: how many classes there are, or that as a function of all settings; None: only loading it tells.
    """

    name: str
    about: str
    source: str
    load: Callable[..., Dataset]
    check: Callable[[Mapping[str, Any]], None]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    drawn_per_seed: bool = False
    num_classes: int | Callable[[Mapping[str, Any]], int] | None = None
