"""Your own images, one folder a class: `train/<class>/*.jpg`, `val/...`, `test/...` in a folder, or classes alone.

What has no folder of its own is held out: the test first, then validation, from each class the same share of the
images in `train` (or of all, where the class folders lie directly in the folder). A class with one image keeps it for
training. Every split must have the same class folders, but only in training must none be empty.

With `store: files` (the default) images are decoded anew in each epoch, and any number of them can be trained on; the
random crop moves over the whole image. With `store: memory` they are decoded once, to the square in the middle, which
all runs of a machine share; it needs 3 * resize^2 bytes an image, and the crop moves over that square.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsweep.data.class_folders import Images, common_classes, find_images, some
from setsweep.data.declaration import OF_RUN, SPLIT_SEED, Contradiction, DatasetDeclaration, DataSetting
from setsweep.data.files import DataError, Root, data_root

if TYPE_CHECKING:
    from torch import Tensor

    from setsweep.data.dataset import Dataset
    from setsweep.data.image_files import ImageFiles

    Examples = tuple[ImageFiles, Tensor]

NORMALISATIONS = {
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),  # of the models that torchvision has weights for
    "symmetric": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),  # to -1..1
}


def image_settings(normalisations: Mapping[str, Any]) -> dict[str, DataSetting]:
    """The settings that all data sets of image files have.

    Args:
        normalisations: the legal names; the first is the default.
    """
    names = tuple(normalisations)
    return {
        "resize": DataSetting(default=256, low=1, unit="pixels", about="shorter side that an image is scaled to"),
        "crop": DataSetting(default=224, low=1, unit="pixels", about="side of the window that the model is given"),
        "store": DataSetting(default="files", choices=("files", "memory"), about="decode as needed, or all once"),
        "unreadable": DataSetting(
            default="error", choices=("error", "skip"), about="what an image that can't be read is", decides_task=True
        ),
        "normalisation": DataSetting(default=names[0], choices=names, about="mean and deviation of the pixels"),
    }


def crop_beyond_image(settings: Mapping[str, Any]) -> Iterable[Contradiction]:
    """A window that is larger than the scaled image."""
    if settings["crop"] > settings["resize"]:
        yield "crop", f"must be <= resize = {settings['resize']}, got {settings['crop']}."


def load_image_folder(
    *,
    root: Root,
    download: bool,
    folder: str,
    split_seed: int,
    val_fraction: float,
    test_fraction: float,
    **images: Any,
) -> Dataset:
    """The images of a folder as a data set.

    Args:
        root: see `data.files.data_root`.
        download: not possible.
        folder: below the root, or an absolute path.
        split_seed: of what is held out.
        val_fraction: share of each class to hold out for validation where there is no folder `val`.
        test_fraction: share of each class to hold out for the test where there is no folder `test`.
        images: see `read_images`.

    Raises:
        DataError: no class folders or a single one, others in one split than in another, a class without a training
            image, images that can't be read.
    """
    from setsweep.data.seeding import seeded_generator
    from setsweep.data.splits import hold_out

    del download
    place = data_root(root) / folder
    if not place.is_dir():
        raise DataError(
            f"Folder {str(place)!r} must exist, found none. Set SETSWEEP_DATA or data.root to the one it is in."
        )
    parts = {name: name for name in ("train", "val", "test") if (place / name).is_dir()}
    if "train" not in parts:
        if parts:
            raise DataError(f"Folder {str(place)!r} must hold train beside {' and '.join(parts)}, found none.")
        parts = {"train": ""}
    found = {split: find_images(place, part) for split, part in parts.items()}
    classes = common_classes(found)
    if len(classes) == 1:
        raise DataError(f"Folder {str(place)!r} must hold the folders of at least 2 classes, got {classes[0]} alone.")
    examples = read_examples(place, found, classes, resize=images["resize"], unreadable=images["unreadable"])
    for split, fraction in (("test", test_fraction), ("val", val_fraction)):
        if split not in examples:
            files, labels = examples["train"]
            kept, held = hold_out(labels, fraction, seeded_generator(split_seed, f"image_folder/{split}"))
            examples["train"] = files.subset(kept), labels[kept]
            examples[split] = files.subset(held), labels[held]
    return image_dataset(place, examples, classes, images, NORMALISATIONS[images["normalisation"]])


def read_examples(
    folder: Path, found: Mapping[str, Images], classes: tuple[str, ...], *, resize: int, unreadable: str
) -> dict[str, Examples]:
    """The images and labels of each split, after a look at every file.

    Args:
        folder: that the paths begin at.
        found: the images of each class in each split.
        classes: in the order of their indices.
        resize: see `ImageFiles`.
        unreadable: "skip" warns of images that can't be read, and leaves them out; "error" raises.
    """
    import torch

    from setsweep.data.image_files import ImageFiles, as_names, unreadable_images

    examples = {}
    for split, images in found.items():
        files = ImageFiles(str(folder), as_names(path for name in classes for path in images[name]), resize)
        counts = torch.tensor([len(images[name]) for name in classes])
        labels = torch.arange(len(classes)).repeat_interleave(counts)
        examples[split] = files, labels
    reasons = {split: unreadable_images(files) for split, (files, _) in examples.items()}
    if any(reasons.values()):
        _report(folder, examples, reasons, unreadable)
        for split, (files, labels) in examples.items():
            whole = torch.tensor(
                [index for index in range(len(files)) if index not in reasons[split]], dtype=torch.int64
            )
            examples[split] = files.subset(whole), labels[whole]
    return examples


def _report(
    folder: Path, examples: Mapping[str, Examples], reasons: Mapping[str, Mapping[int, str]], unreadable: str
) -> None:
    named = [
        f"{examples[split][0].path(index).relative_to(folder)} ({reason})"
        for split, broken in reasons.items()
        for index, reason in broken.items()
    ]
    total = sum(len(files) for files, _ in examples.values())
    what = f"Images in {str(folder)!r} must be readable, got {len(named)} of {total} that are not: {some(named)}."
    if unreadable == "error":
        raise DataError(f"{what} Mend or remove them, or leave them out with unreadable: skip.")
    warnings.warn(f"{what} They are left out.", stacklevel=2)


def image_dataset(
    folder: Path,
    examples: Mapping[str, Examples],
    classes: tuple[str, ...],
    images: Mapping[str, Any],
    normalisation: tuple[tuple[float, ...], tuple[float, ...]],
    superclasses: Tensor | None = None,
) -> Dataset:
    """The data set of these examples.

    Args:
        folder: for messages.
        examples: of each split.
        classes: their names, by index.
        images: the settings `crop` and `store`.
        normalisation: mean and deviation of each channel.
        superclasses: see `Dataset`.
    """
    import torch

    from setsweep.data.dataset import Dataset, Split
    from setsweep.data.decoding import decode_all
    from setsweep.data.image_decoder import image_decoder

    counts = torch.bincount(examples["train"][1], minlength=len(classes))
    empty = [name for name, count in zip(classes, counts.tolist(), strict=True) if count == 0]
    if empty:
        raise DataError(f"Every class of {str(folder)!r} must have a training image, got none of {some(empty)}.")
    for split, (_, labels) in examples.items():
        if len(labels) == 0:
            raise DataError(f"Split {split} of {str(folder)!r} must have an image, got none.")
    mean, std = normalisation
    splits = {
        split: Split(decode_all(files) if images["store"] == "memory" else files, labels)
        for split, (files, labels) in examples.items()
    }
    return Dataset(
        **splits,
        num_classes=len(classes),
        mean=mean,
        std=std,
        superclasses=superclasses,
        class_names=classes,
        crop=images["crop"],
        decoder=image_decoder() if images["store"] == "memory" else None,
    )


DECLARATION = DatasetDeclaration(
    name="image_folder",
    about="Your own images, one folder a class, with or without folders train, val and test around them.",
    source="a folder below the data root",
    settings={
        **OF_RUN,
        "folder": DataSetting(default="images", about="below the data root, or an absolute path", decides_task=True),
        **image_settings(NORMALISATIONS),
        "val_fraction": DataSetting(
            default=0.1, above=0, below=1, about="of each class, where there is no folder val", decides_task=True
        ),
        "test_fraction": DataSetting(
            default=0.2, above=0, below=1, about="of each class, where there is no folder test", decides_task=True
        ),
        "split_seed": SPLIT_SEED,
    },
    load=load_image_folder,
    contradictions=crop_beyond_image,
)
