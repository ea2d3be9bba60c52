"""The one form in which every data set reaches training: three splits of tensors and what is known of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from setsweep.data.image_decoder import image_decoder

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

    def subset(self, indices: Tensor) -> Split:
        """Some of the examples, in this order."""
        inputs = self.inputs[indices] if isinstance(self.inputs, Tensor) else self.inputs.subset(indices)
        return Split(inputs, self.labels[indices])


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
        calibration: a split that nothing else looks at, for the thresholds of conformal sets; None: there is none.
        decoder: what made pixels of image files, where all were decoded at once; see `decoded_by`.
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
    calibration: Split | None = None
    decoder: str | None = None

    @property
    def decoded_by(self) -> str | None:
        """What makes, or made, pixels of its image files (`data.image_decoder`); None: it isn't made of any."""
        return self.decoder if isinstance(self.train.inputs, Tensor) else image_decoder()

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Of one example as a model is given it: (features,) or (channels, height, width)."""
        stored = tuple(self.train.inputs.shape[1:]) if isinstance(self.train.inputs, Tensor) else (3,)
        return stored if self.crop is None else (stored[0], self.crop, self.crop)
