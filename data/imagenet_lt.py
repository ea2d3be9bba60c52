"""ImageNet-LT: 115,846 images of ImageNet with a long tail, 1,280 of the largest class and 5 of the smallest (Liu et
al., Large-Scale Long-Tailed Recognition in an Open World, CVPR 2019).

The published lists name the images: `ImageNet_LT_train.txt`; `ImageNet_LT_val.txt`, 20 other training images of each
class; and `ImageNet_LT_test.txt`, the 50,000 official validation images. A line is `train/<class>/<file> <index>`, its
path below the folder of ImageNet (see `data.imagenet`). All three lists are read; nothing is held out or drawn.

A list that lacks its end would make another data set without a word, so lists are refused in which a class is missing,
and those of validation and test if they have more of one class than of another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsweep.data.class_folders import some
from setsweep.data.declaration import OF_RUN, DatasetDeclaration
from setsweep.data.files import DataError, Root, damaged, data_root, read_file
from setsweep.data.image_folder import crop_beyond_image, image_dataset, image_settings, read_examples
from setsweep.data.imagenet import CLASSES, NORMALISATION, find_imagenet

if TYPE_CHECKING:
    from setsweep.data.dataset import Dataset

FOLDERS = ("imagenet_lt", "ImageNet_LT")  # where we look for the lists, below the data root; then beside the images
LISTS = {split: f"ImageNet_LT_{split}.txt" for split in ("train", "val", "test")}
ADDRESS = "https://github.com/zhmiao/OpenLongTailRecognition-OLTR"

Entries = Mapping[str, int]  # class indices by path


def load_imagenet_lt(*, root: Root, download: bool, **images: Any) -> Dataset:
    """ImageNet-LT in its published split.

    Args:
        root: folder that holds ImageNet and the lists; None: see `data.files.data_root`.
        download: not possible.
        images: see `data.image_folder`.

    Raises:
        DataError: lists or images are missing or damaged.
    """
    del download
    folder = find_imagenet(root)
    lists = _find_lists(data_root(root), folder)
    entries = {split: read_list(path) for split, path in lists.items()}
    classes = _classes(entries, lists)
    found = {split: _by_class(each, classes) for split, each in entries.items()}
    examples = read_examples(folder, found, classes, resize=images["resize"], unreadable=images["unreadable"])
    return image_dataset(folder, examples, classes, images, NORMALISATION[images["normalisation"]])


def read_list(path: Path) -> Entries:
    """The class index of each image that a list names.

    Raises:
        DataError: there is no such list, or a line is no path of three parts and an index.
    """
    entries = {}
    for number, line in enumerate(read_file(path).decode(errors="replace").splitlines(), 1):
        image, _, index = line.strip().rpartition(" ")
        if image.count("/") != 2 or not index.isdecimal() or image in entries:
            raise damaged(
                path,
                "a new path train/class/file or val/class/file and an index in each line",
                f"line {number}: {line[:80]!r}",
            )
        entries[image] = int(index)
    return entries


def _find_lists(root: Path, beside_images: Path) -> dict[str, Path]:
    places = [*(root / name for name in FOLDERS), beside_images]
    for place in places:
        if (place / LISTS["train"]).exists():
            return {split: place / name for split, name in LISTS.items()}
    raise DataError(
        f"List {str(places[0] / LISTS['train'])!r} must exist, found none. Fetch {', '.join(LISTS.values())} from "
        f"{ADDRESS}, and set SETSWEEP_DATA or data.root to the folder that theirs is in."
    )


def _classes(entries: Mapping[str, Entries], lists: Mapping[str, Path]) -> tuple[str, ...]:
    """The classes' folders by index, once every list has images of each of them under the same one."""
    pairs = {
        split: Counter((index, image.split("/")[1]) for image, index in each.items()) for split, each in entries.items()
    }
    known = sorted(pairs["train"])
    if [index for index, _ in known] != list(range(CLASSES)) or len({name for _, name in known}) != CLASSES:
        raise damaged(
            lists["train"],
            f"a folder of its own for each of {CLASSES} indices",
            f"{len(known)} pairs",
        )
    for split in ("val", "test"):
        if set(pairs[split]) != set(known):
            strange = sorted({name for _, name in set(pairs[split]) ^ set(known)})
            raise damaged(lists[split], "the classes of the training list", f"others: {some(strange)}")
        if len(set(pairs[split].values())) > 1:
            raise damaged(lists[split], "equally many images of each class", _extremes(pairs[split]))
    return tuple(name for _, name in known)


def _extremes(counts: Mapping[tuple[int, str], int]) -> str:
    return f"{min(counts.values())} to {max(counts.values())}"


def _by_class(entries: Entries, classes: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in classes}
    for image in sorted(entries):
        found[classes[entries[image]]].append(image)
    return found


DECLARATION = DatasetDeclaration(
    name="imagenet_lt",
    about="ImageNet with a long tail, 1,280 to 5 training images a class: 115,846 / 20,000 / 50,000.",
    source=f"Liu et al. (2019), {ADDRESS}, lists over ImageNet",
    settings={**OF_RUN, **image_settings(NORMALISATION)},
    load=load_imagenet_lt,
    contradictions=crop_beyond_image,
    num_classes=CLASSES,
)
