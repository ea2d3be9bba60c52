"""A study begun for a folder of images: what the folder holds, and a commented study file that fits it."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from setsweep.data import load_base
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError
from setsweep.data.image_files import ImageFiles

LOOKED_AT = 200  # images whose size is read
SMALL, LARGE = 64, 72  # pixels: the window that the model is given, of images scaled to a little more
MEMORY = 2**30  # bytes: images that take less are decoded once
BATCH_SIZES = (32, 24, 16, 12, 10, 8, 6, 4, 3, 2)
UNBALANCED = 10  # the largest class against the smallest


@dataclass(frozen=True, kw_only=True)
class Images:
    """What a folder of images holds.

    Args:
        folder: an absolute path.
        splits: images to train on, to validate and to test.
        classes: their number.
        smallest, largest: images of a class in training.
        sides: shorter sides of some of the images, in pixels, ascending.
        unreadable: whether some can't be read.
        held_out: the splits that are drawn from the training images.
    """

    folder: Path
    splits: tuple[int, int, int]
    classes: int
    smallest: int
    largest: int
    sides: tuple[int, ...]
    unreadable: bool
    held_out: tuple[str, ...]


def look_at(folder: Path) -> Images:
    """Read what a folder holds, as training would: classes, splits, sizes.

    Raises:
        DataError: no images in class folders, or a class without one to train on.
    """
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise DataError(f"FOLDER must be a folder of images, got {str(folder)!r}, which is none.")
    try:
        data, unreadable = _load(folder, "error"), False
    except DataError as error:
        if "must be readable" not in str(error):
            raise
        with warnings.catch_warnings(action="ignore"):
            data, unreadable = _load(folder, "skip"), True
    counts = data.train.labels.bincount(minlength=data.num_classes).tolist()
    return Images(
        folder=folder,
        splits=(len(data.train), len(data.val), len(data.test)),
        classes=data.num_classes,
        smallest=min(counts),
        largest=max(counts),
        sides=_sides(data),
        unreadable=unreadable,
        held_out=tuple(name for name in ("val", "test") if not (folder / name).is_dir()),
    )


def _load(folder: Path, unreadable: str) -> Dataset:
    loaded = load_base({"name": "image_folder", "folder": str(folder), "unreadable": unreadable})
    assert loaded is not None, "image folders are shared between seeds"
    return loaded


def _sides(data: Dataset) -> tuple[int, ...]:
    from PIL import Image

    files = data.train.inputs
    assert isinstance(files, ImageFiles), "of a data set that is not decoded at once"
    sides = []
    for index in range(0, len(files), max(1, len(files) // LOOKED_AT)):
        with Image.open(files.path(index)) as image:
            sides.append(min(image.size))
    return tuple(sorted(sides))


def study_name(folder: Path) -> str:
    """The folder's name as one that a study may have."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", folder.expanduser().absolute().name).strip("-")[:100] or "my-images"


def study_text(images: Images, name: str, *, gpu: bool) -> str:
    """A study file for these images, with comments; short enough to be tried at once.

    Args:
        images: what there is.
        name: of the study.
        gpu: whether runs have a GPU.
    """
    k = 1 if images.classes == 2 else 2 if images.classes <= 10 else 3 if images.classes <= 50 else 5
    ending = (
        f"confirm: {{seeds: 5}}  # each with 5 seeds: every number has an interval\n"
        f"compare: {{baseline: cross_entropy}}\n"
        f"resources: {{cpus: 1, gpus: {'auto' if gpu else 0}}}  # of a run"
    )
    parts = [
        f"study: {name}\nabout: Which loss gives the best sets of {k} of {images.classes} classes?",
        _data(images),
        _training(images, gpu=gpu),
        _arms(images, k),
        ending,
    ]
    return "\n\n".join(parts) + "\n"


def _data(images: Images) -> str:
    train, val, test = images.splits
    resize, crop = _sizes(images)
    in_memory = sum(images.splits) * 3 * resize**2 <= MEMORY
    held = " and ".join({"val": "validation", "test": "test"}[split] for split in images.held_out)
    lines = [f"# {train + val + test:,} images: {train:,} to train on, {val:,} to validate, {test:,} to test."]
    lines += [f"# Of {held} there is no folder: that is held out of every class, see val_fraction."] if held else []
    lines += [
        f"# {images.classes} classes, of {images.smallest:,} to {images.largest:,} images to train on.",
        f"# Shorter sides of images are {_range(images.sides)} pixels.",
        "data:",
        "  name: image_folder",
        f"  folder: {json.dumps(str(images.folder), ensure_ascii=False)}",
        f"  resize: {resize}  # pixels of the shorter side; more shows more and takes longer, 256 is usual on GPUs",
        f"  crop: {crop}  # pixels of the square that the model is given; 224 is usual with 256",
        f"  store: {'memory' if in_memory else 'files'}  # memory: decoded once; files: anew in every epoch",
    ]
    lines += ["  unreadable: skip  # images that can't be read are named and left out"] if images.unreadable else []
    return "\n".join(lines)


def _training(images: Images, *, gpu: bool) -> str:
    larger = "{name: resnet18, pretrained: IMAGENET1K_V1}"
    model, hint = ("resnet18", f"weights to begin with: {larger}") if gpu else ("small_cnn", f"on a GPU: {larger}")
    return (
        f"model: {{name: {model}}}  # {hint}\n"
        "training:\n"
        "  epochs: 20\n"
        f"  batch_size: {_batch_size(images.splits[0])}\n"
        f"  optimizer: {{name: sgd, lr: {0.02 if gpu else 0.05}, momentum: 0.9, nesterov: true}}\n"
        "  milestones: [14, 18]  # after these epochs the learning rate is a tenth\n"
        "  augment: {flip: true}  # mirrored images; not where left and right differ in meaning"
    )


def _arms(images: Images, k: int) -> str:
    lines = [
        f"k: [{k}]  # sets of so many classes: exactly (top-k), and on average (average-k)",
        "",
        "arms:  # the losses to compare; 'setsweep losses' lists all",
        "  cross_entropy: {}",
        "  avgk: {}  # made for sets of k on average",
        "  noised_topk_hinge: {}  # made for sets of exactly k",
    ]
    if images.largest >= UNBALANCED * images.smallest:
        lines.append("  logit_adjustment: {}  # made for classes of very different size, as these")
    return "\n".join(
        [
            *lines,
            "# To search a hyperparameter, write 'avgk: {alpha: default_space}' above and add:",
            f"# search: {{trials: 9, objective: val/avg{k}_accuracy, race: {{seeds: 5}}}}",
        ]
    )


def _sizes(images: Images) -> tuple[int, int]:
    """Resize and crop: no more than most images have."""
    side = int(median(images.sides))
    return (LARGE, SMALL) if side >= LARGE else (max(side, 1), max(side, 1))


def _range(sides: Sequence[int]) -> str:
    return f"{sides[0]} to {sides[-1]}" if sides[0] < sides[-1] else str(sides[0])


def _batch_size(train: int) -> int:
    """The largest that leaves several batches, the last of more than one image, as batch normalisation needs."""
    fitting = [size for size in BATCH_SIZES if (train - 1) % size and size <= max(2, train // 4)]
    return next(iter(fitting), max(2, train))
