"""ImageNet, as of the ILSVRC 2012: 1,281,167 photographs to train on and 50,000 more, in 1,000 classes (Russakovsky et
al., 2015).

Read from folders as torchvision's `ImageNet` unpacks the two archives: `train/<class>/` and `val/<class>/`; the
development kit is not needed. Classes are in the order of their WordNet ids, which is that of everybody's class
indices, and are called by them.

The labels of the official test are secret, so the official validation images are the test here, as in the papers, and
`val_per_class` training images of every class are held out for validation: 50, as in Berrada et al. (ICLR 2018), whom
Garcin et al. (2022) follow.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsweep.data.class_folders import common_classes, find_images, some
from setsweep.data.declaration import OF_RUN, SPLIT_SEED, DatasetDeclaration, DataSetting
from setsweep.data.files import DataError, Root, data_root
from setsweep.data.image_folder import (
    NORMALISATIONS,
    crop_beyond_image,
    image_dataset,
    image_settings,
    read_examples,
)

if TYPE_CHECKING:
    from setsweep.data.dataset import Dataset

FOLDERS = ("imagenet", "ILSVRC2012")  # where we look, below the data root
ADDRESS = "https://image-net.org/challenges/LSVRC/2012/2012-downloads.php"
CLASSES = 1000
NORMALISATION = {"imagenet": NORMALISATIONS["imagenet"]}
_SMALLEST = 732  # training images of the smallest class


def load_imagenet(*, root: Root, download: bool, split_seed: int, val_per_class: int, **images: Any) -> Dataset:
    """ImageNet: training images, those of them that are held out for validation, and the official validation as test.

    Args:
        root: folder that holds `imagenet` or `ILSVRC2012`; None: see `data.files.data_root`.
        download: not possible.
        split_seed: of what is held out.
        val_per_class: training images of every class to hold out.
        images: see `data.image_folder`.

    Raises:
        DataError: folders are missing or not those of the 1,000 classes, a class has no training image left, images
            can't be read.
    """
    import torch

    from setsweep.data.seeding import seeded_generator
    from setsweep.data.splits import hold_out_each

    del download
    folder = find_imagenet(root)
    found = {part: find_images(folder, part) for part in ("train", "val")}
    classes = common_classes(found)
    if len(classes) != CLASSES:
        raise DataError(
            f"train and val of {str(folder)!r} must have {CLASSES} class folders, got {len(classes)}: {some(classes)}."
        )
    examples = read_examples(folder, found, classes, resize=images["resize"], unreadable=images["unreadable"])
    files, labels = examples["train"]
    counts = torch.bincount(labels, minlength=CLASSES).tolist()
    small = [name for name, count in zip(classes, counts, strict=True) if count <= val_per_class]
    if small:
        rule = f"have more than val_per_class = {val_per_class} training images"
        raise DataError(f"Every class of {str(folder)!r} must {rule}, got no more of {some(small)}.")
    kept, held = hold_out_each(labels, val_per_class, seeded_generator(split_seed, "imagenet/val"))
    splits = {
        "train": (files.subset(kept), labels[kept]),
        "val": (files.subset(held), labels[held]),
        "test": examples["val"],
    }
    return image_dataset(folder, splits, classes, images, NORMALISATION[images["normalisation"]])


def find_imagenet(root: Root) -> Path:
    """The folder that holds `train` and `val`.

    Raises:
        DataError: there is none.
    """
    places = [data_root(root) / name for name in FOLDERS]
    for place in places:
        if (place / "train").is_dir() and (place / "val").is_dir():
            return place
    raise DataError(
        f"Folder {places[0]} must hold train and val with one folder a class, found none. Fetch the images of the task "
        f"from {ADDRESS} (which asks for an account), let torchvision.datasets.ImageNet unpack them, and set "
        "SETSWEEP_DATA or data.root to the folder that it is in."
    )


DECLARATION = DatasetDeclaration(
    name="imagenet",
    about="ImageNet (ILSVRC 2012), photographs in 1,000 classes: 1,231,167 / 50,000 / 50,000.",
    source=f"Russakovsky et al. (2015), {ADDRESS}",
    settings={
        **OF_RUN,
        **image_settings(NORMALISATION),
        "val_per_class": DataSetting(
            default=50,
            low=1,
            high=_SMALLEST - 1,
            unit="images",
            about="of each class, held out of training",
            decides_task=True,
        ),
        "split_seed": SPLIT_SEED,
    },
    load=load_imagenet,
    contradictions=crop_beyond_image,
    num_classes=CLASSES,
)
