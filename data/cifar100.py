"""CIFAR-100: 60,000 colour images of 32x32 pixels in 100 classes, five to each of 20 superclasses (Krizhevsky, 2009).

Read from the files that `torchvision.datasets.CIFAR100` reads, against the same checksums, but in one pass: torchvision
hashes every file again for each of the two splits and rearranges the images. Its import, too, takes seconds.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsweep.data.declaration import OF_RUN, SPLIT_SEED, DatasetDeclaration, DataSetting
from setsweep.data.files import Root, check_md5, data_root, read_file, read_or_download

if TYPE_CHECKING:
    from torch import Tensor

    from setsweep.data.dataset import Dataset

FOLDER = "cifar-100-python"
MD5 = {
    "train": "16019d7e3df5f24257cddd939b257f8d",
    "test": "f0ef6b0ae62326f3e7ffdfab6717acfc",
    "meta": "7973b15100ade9c7d40fb424638fde48",
}
_TRAIN, _VAL, _CLASSES = 45_000, 5_000, 100
_MEAN = (0.5071, 0.4865, 0.4409)  # of the 50,000 training images
_STD = (0.2673, 0.2564, 0.2762)


def load_cifar100(*, root: Root, download: bool, split_seed: int, subset: int | None) -> Dataset:
    """CIFAR-100 as images (n, 3, 32, 32) uint8: 45,000 to train on, 5,000 for validation, 10,000 for the test.

    Args:
        root: folder that holds `cifar-100-python`; None: see `data.files.data_root`.
        download: fetch the files if they are not there.
        split_seed: of the balanced split of the 50,000 training images (450 and 50 a class).
        subset: only that many training images, equally many of each class (to within one where it does not divide).

    Raises:
        DataError: a file is missing or damaged.
    """
    folder = data_root(root)

    def fetch() -> None:
        from torchvision.datasets import CIFAR100  # imported for a download only: it takes seconds
        from torchvision.datasets.utils import download_and_extract_archive

        download_and_extract_archive(CIFAR100.url, str(folder), filename=CIFAR100.filename, md5=CIFAR100.tgz_md5)

    def read() -> Dataset:
        return _read(folder / FOLDER, split_seed, subset)

    return read_or_download(read, fetch, source="CIFAR-100", download=download)


def _read(folder: Path, split_seed: int, subset: int | None) -> Dataset:
    import torch

    from setsweep.data.dataset import Dataset, Split
    from setsweep.data.splits import train_and_val

    names = tuple(name.decode() for name in _unpickle(folder, "meta")[b"fine_label_names"])
    test_images, test_labels, _ = _examples(folder, "test")
    images, labels, groups = _examples(folder, "train")
    superclasses = torch.empty(_CLASSES, dtype=torch.int64)
    superclasses[labels] = groups
    train, val = train_and_val(labels, val_size=_VAL, subset=subset, split_seed=split_seed, name="cifar100")
    return Dataset(
        Split(images[train], labels[train]),
        Split(images[val], labels[val]),
        Split(test_images, test_labels),
        num_classes=_CLASSES,
        mean=_MEAN,
        std=_STD,
        superclasses=superclasses,
        class_names=names,
    )


def _examples(folder: Path, split: str) -> tuple[Tensor, Tensor, Tensor]:
    """Images, labels and superclasses of a file; the images without a copy of the decoded memory."""
    import torch

    from setsweep.data.arrays import as_tensor

    content = _unpickle(folder, split)
    labels, groups = (torch.tensor(content[key]) for key in (b"fine_labels", b"coarse_labels"))
    return as_tensor(content[b"data"]).view(-1, 3, 32, 32), labels, groups


def _unpickle(folder: Path, name: str) -> dict[bytes, Any]:
    path = folder / name
    packed = read_file(path)
    check_md5(packed, MD5[name], path)
    content: dict[bytes, Any] = pickle.loads(packed, encoding="bytes")  # noqa: S301  # the very bytes just checked
    return content


DECLARATION = DatasetDeclaration(
    name="cifar100",
    about="60,000 colour images of 32x32 pixels in 100 classes and 20 superclasses: 45,000 / 5,000 / 10,000.",
    source="Krizhevsky (2009), https://www.cs.toronto.edu/~kriz/cifar.html",
    settings={
        **OF_RUN,
        "split_seed": SPLIT_SEED,
        "subset": DataSetting(
            default=None, low=_CLASSES, high=_TRAIN, unit="images", about="train on that many images alone"
        ),
    },
    load=load_cifar100,
    num_classes=_CLASSES,
)
