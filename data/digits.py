"""Digits: the 1797 handwritten digits of 8x8 pixels that come with scikit-learn; real images, and no files needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from setsweep.data.declaration import OF_RUN, SPLIT_SEED, DatasetDeclaration
from setsweep.data.files import DataError, Root

if TYPE_CHECKING:
    from setsweep.data.dataset import Dataset

_SIZES = (1077, 360, 360)  # 60, 20, 20 %


def load_digits(*, root: Root, download: bool, split_seed: int) -> Dataset:
    """The digits as images (n, 1, 8, 8) uint8 in a stratified split of 60, 20 and 20 %.

    The pixels count 0..16 inked points; they are scaled to 0..255, as images are elsewhere.

    Args:
        root: not needed, scikit-learn brings the images along.
        download: not needed either.
        split_seed: of the split.
    """
    import numpy as np
    import torch

    from setsweep.data.dataset import Dataset, Split
    from setsweep.data.seeding import seeded_generator
    from setsweep.data.splits import stratified_split

    del root, download
    table = torch.from_numpy(np.loadtxt(_bundled_file(), delimiter=","))
    images = table[:, :-1].mul(255 / 16).round_().to(torch.uint8).view(-1, 1, 8, 8)
    labels = table[:, -1].long()
    parts = stratified_split(labels, _SIZES, seeded_generator(split_seed, "digits/split"))
    train, val, test = (Split(images[part], labels[part]) for part in parts)
    names = tuple(str(digit) for digit in range(10))
    return Dataset(train, val, test, num_classes=10, mean=(0.3053,), std=(0.3759,), class_names=names)


def _bundled_file() -> Path:
    """Where scikit-learn keeps the digits; importing scikit-learn to ask for them takes seconds."""
    package = importlib.util.find_spec("sklearn")
    if package is None or not package.submodule_search_locations:
        raise DataError("digits must be found in scikit-learn, got no such package. Install scikit-learn.")
    return Path(package.submodule_search_locations[0]) / "datasets" / "data" / "digits.csv.gz"


DECLARATION = DatasetDeclaration(
    name="digits",
    about="1,797 handwritten digits of 8x8 pixels in 10 classes: 1,077 / 360 / 360.",
    source="scikit-learn, sklearn.datasets.load_digits (Alpaydin and Kaynak, 1998)",
    settings={**OF_RUN, "split_seed": SPLIT_SEED},
    load=load_digits,
    num_classes=10,
)
