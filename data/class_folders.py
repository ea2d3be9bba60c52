"""Images in one folder a class: finding them, and holding out some of each class."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from setsweep.data.files import DataError

ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")  # as torchvision's ImageFolder
_SHOWN = 10  # names in a message, at most

Images = Mapping[str, Sequence[str]]
"""The images of each class, as paths below some folder."""


def find_images(folder: Path, part: str = "") -> dict[str, list[str]]:
    """The images of every class folder, at any depth, in the order of their paths; classes in the order of their names.

    Hidden files and folders don't count: editors and file managers keep copies and thumbnails of images there.

    Args:
        folder: paths are given from here.
        part: the path below it that holds the class folders.

    Raises:
        DataError: there is no class folder.
    """
    classes = sorted(entry.name for entry in os.scandir(folder / part) if entry.is_dir() and entry.name[0] != ".")
    if not classes:
        raise DataError(f"Folder {str(folder / part)!r} must hold one folder a class, found none.")
    return {name: _images_below(folder, str(Path(part, name))) for name in classes}


def _images_below(folder: Path, part: str) -> list[str]:
    found = []
    for parent, folders, names in os.walk(folder / part, followlinks=True):
        folders[:] = [name for name in folders if name[0] != "."]  # which are then not walked through
        found += [
            os.path.relpath(os.path.join(parent, name), folder)  # noqa: PTH118 - half a million Paths take seconds
            for name in names
            if name[0] != "." and name.lower().endswith(ENDINGS)
        ]
    return sorted(found)


def common_classes(splits: Mapping[str, Images]) -> tuple[str, ...]:
    """The classes of a data set, whose every split must have the folders of all of them.

    Raises:
        DataError: a split lacks class folders that another has.
    """
    every = sorted({name for images in splits.values() for name in images})
    lacking = [
        f"{split} without {some(missing)}"
        for split, images in splits.items()
        if (missing := [name for name in every if name not in images])
    ]
    if lacking:
        raise DataError(f"Class folders must be the same in {', '.join(splits)}, got {'; '.join(lacking)}.")
    return tuple(every)


def some(names: Sequence[str]) -> str:
    """Names for a message: the first ones, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
