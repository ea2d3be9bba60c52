"""Fashion-MNIST: 70,000 grey images of 28x28 pixels in 10 classes of clothes (Xiao, Rasul and Vollgraf, 2017).

Read from the four files that `torchvision.datasets.FashionMNIST` reads, packed by gzip or not. The checksums are those
of the unpacked files, so that Debian's package dataset-fashion-mnist, which packs them anew, is accepted too.

The data set has no superclasses. For label noise we group its classes by where they are worn: upper body, feet, and
the rest. This grouping is ours.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from setsweep.data.declaration import OF_RUN, SPLIT_SEED, DatasetDeclaration, DataSetting
from setsweep.data.files import Root, check_md5, damaged, data_root, read_file, read_or_download

if TYPE_CHECKING:
    from torch import Tensor

    from setsweep.data.dataset import Dataset

MD5 = {  # of the unpacked files; those that unpack from the .gz files whose sums torchvision lists
    "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
    "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
    "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
    "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
}
FOLDER = Path("FashionMNIST/raw")
DEBIAN_FOLDER = Path("/usr/share/datasets/fashion-mnist")
_NAMES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
_GROUPS = (0, 2, 0, 2, 0, 1, 0, 1, 2, 1)  # 0: upper body, 1: feet, 2: trousers, dresses and bags
_TRAIN, _VAL = 55_000, 5_000
_MEAN, _STD = (0.2860,), (0.3530,)  # of the 60,000 training images


def load_fashion_mnist(*, root: Root, download: bool, split_seed: int, subset: int | None) -> Dataset:
    """Fashion-MNIST as images (n, 1, 28, 28) uint8: 55,000 to train on, 5,000 for validation, 10,000 for the test.

    Args:
        root: folder that holds the files in `FashionMNIST/raw` or directly; None: see `data.files.data_root`.
            Where it holds none of them, Debian's package is used if it is installed.
        download: fetch the files if they are not there.
        split_seed: of the balanced split of the 60,000 training images (5,500 and 500 a class).
        subset: only that many training images, equally many of each class (to within one where it does not divide).

    Raises:
        DataError: a file is missing or damaged.
    """
    folder = data_root(root)

    def fetch() -> None:
        from torchvision.datasets import FashionMNIST  # imported for a download only: it takes seconds
        from torchvision.datasets.utils import download_url

        for name, md5 in FashionMNIST.resources:
            download_url(FashionMNIST.mirrors[0] + name, folder / FOLDER, filename=name, md5=md5)

    def read() -> Dataset:
        return _read(_find(folder), split_seed, subset)

    return read_or_download(read, fetch, source="Fashion-MNIST", download=download)


def _find(root: Path) -> Path:
    """The first folder that holds any of the files, packed or not; where none does, the one where they should be."""
    for folder in (root / FOLDER, root, DEBIAN_FOLDER):
        if any((folder / name).exists() or (folder / f"{name}.gz").exists() for name in MD5):
            return folder
    return root / FOLDER


def _read(folder: Path, split_seed: int, subset: int | None) -> Dataset:
    import torch

    from setsweep.data.dataset import Dataset, Split
    from setsweep.data.splits import train_and_val

    test_images, test_labels = _images(folder, "t10k"), _labels(folder, "t10k")
    images, labels = _images(folder, "train"), _labels(folder, "train")
    train, val = train_and_val(labels, val_size=_VAL, subset=subset, split_seed=split_seed, name="fashion_mnist")
    return Dataset(
        Split(images[train], labels[train]),
        Split(images[val], labels[val]),
        Split(test_images, test_labels),
        num_classes=len(_NAMES),
        mean=_MEAN,
        std=_STD,
        superclasses=torch.tensor(_GROUPS),
        class_names=_NAMES,
    )


def _images(folder: Path, split: str) -> Tensor:
    import numpy as np

    from setsweep.data.arrays import as_tensor

    content = _content(folder, f"{split}-images-idx3-ubyte")
    return as_tensor(np.frombuffer(content, dtype=np.uint8, offset=16)).view(-1, 1, 28, 28)  # 16 bytes: sizes


def _labels(folder: Path, split: str) -> Tensor:
    import numpy as np

    from setsweep.data.arrays import as_tensor

    content = _content(folder, f"{split}-labels-idx1-ubyte")
    return as_tensor(np.frombuffer(content, dtype=np.uint8, offset=8)).long()


def _content(folder: Path, name: str) -> bytes:
    path = folder / name
    content = read_file(path) if path.exists() else _unpack(folder / f"{name}.gz")
    check_md5(content, MD5[name], path)
    return content


def _unpack(path: Path) -> bytes:
    packed = read_file(path)
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, "content that gzip unpacks", str(error)) from error


DECLARATION = DatasetDeclaration(
    name="fashion_mnist",
    about="70,000 grey images of clothes, 28x28 pixels, in 10 classes: 55,000 / 5,000 / 10,000.",
    source="Xiao, Rasul and Vollgraf (2017), https://github.com/zalandoresearch/fashion-mnist",
    settings={
        **OF_RUN,
        "split_seed": SPLIT_SEED,
        "subset": DataSetting(
            default=None, low=len(_NAMES), high=_TRAIN, unit="images", about="train on that many images alone"
        ),
    },
    load=load_fashion_mnist,
    num_classes=len(_NAMES),
)
