"""Pl@ntNet-300K: 306,146 photographs of plants in 1,081 species of 303 genera (Garcin et al., NeurIPS Datasets and
Benchmarks 2021, version 1.1), with very many of some species and very few of most.

Read from the published archive once it is unpacked, in either of its layouts: `images/{train,val,test}/<species_id>/`
or `images_{train,val,test}/<species_id>/`. Classes are in the order of their species ids as text, which is that of the
published class indices. Superclasses are the genera: the first word of a species' name. 164 genera have one species;
label noise can't change the labels of these.

Images are scaled to 256 pixels and cropped to 224, as published; so are both normalisations, of which the published
code takes ImageNet's for networks trained on ImageNet before (the default here, since both papers train those) and its
own for others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsweep.data.class_folders import common_classes, find_images, some
from setsweep.data.declaration import OF_RUN, DatasetDeclaration
from setsweep.data.files import DataError, Root, damaged, data_root, read_file
from setsweep.data.image_folder import (
    NORMALISATIONS,
    crop_beyond_image,
    image_dataset,
    image_settings,
    read_examples,
)

if TYPE_CHECKING:
    import torch

    from setsweep.data.dataset import Dataset

FOLDERS = ("plantnet300k", "plantnet_300K")  # where we look, the second as the archive unpacks
LISTS = ("plantnet300K_species_id_2_name.json", "plantnet300K_species_names.json")  # by version of the archive
ADDRESS = "https://doi.org/10.5281/zenodo.5645731"
_SPECIES = 1081
_NORMALISATIONS = {
    "imagenet": NORMALISATIONS["imagenet"],
    "plantnet": ((0.4425, 0.4695, 0.3266), (0.2353, 0.2219, 0.2325)),
}


def load_plantnet300k(*, root: Root, download: bool, **images: Any) -> Dataset:
    """Pl@ntNet-300K in its published split.

    Args:
        root: folder that holds `plantnet300k` or `plantnet_300K`; None: see `data.files.data_root`.
        download: not possible.
        images: see `data.image_folder`.

    Raises:
        DataError: files are missing, damaged, or not those of the 1,081 species.
    """
    del download
    folder = _find(data_root(root))
    species = read_species(folder)
    nested = (folder / "images").is_dir()
    parts = {split: f"images/{split}" if nested else f"images_{split}" for split in ("train", "val", "test")}
    for part in parts.values():
        if not (folder / part).is_dir():
            raise DataError(f"Folder {str(folder / part)!r} must exist, found none. Fetch and unpack {ADDRESS}.")
    found = {split: find_images(folder, part) for split, part in parts.items()}
    classes = common_classes(found)
    if classes != tuple(species):
        strange = sorted(set(classes) ^ set(species))
        rule = f"have one folder for each of the {_SPECIES} species in its list"
        raise DataError(f"{str(folder)!r} must {rule}, got {len(classes)}; these differ: {some(strange)}.")
    examples = read_examples(folder, found, classes, resize=images["resize"], unreadable=images["unreadable"])
    normalisation = _NORMALISATIONS[images["normalisation"]]
    names = tuple(species.values())
    return image_dataset(folder, examples, names, images, normalisation, genera(names))


def _find(root: Path) -> Path:
    for name in FOLDERS:
        if (root / name).is_dir():
            return root / name
    raise DataError(
        f"Folder {str(root / FOLDERS[0])!r} must exist, found none. Fetch and unpack {ADDRESS}, version 1.1, and set "
        "SETSWEEP_DATA or data.root to the folder that it is in."
    )


def read_species(folder: Path) -> dict[str, str]:
    """The names of the species by their ids, in the order of the ids as text.

    Raises:
        DataError: no list, or one that is damaged.
    """
    path = next((folder / name for name in LISTS if (folder / name).exists()), folder / LISTS[0])
    content = read_file(path)
    try:
        species = json.loads(content)
    except ValueError as error:
        raise damaged(path, "JSON", str(error)) from error
    if not isinstance(species, dict) or len(species) != _SPECIES or not all(map(_is_name, species.values())):
        raise damaged(path, f"the names of {_SPECIES} species", f"{len(content)} bytes of something else")
    return dict(sorted(species.items()))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name.split())


def genera(names: tuple[str, ...]) -> torch.Tensor:
    """(species,) int64: the genus of each, numbered in alphabetical order."""
    import torch

    of_species = [name.split()[0] for name in names]
    numbers = {genus: number for number, genus in enumerate(sorted(set(of_species)))}
    return torch.tensor([numbers[genus] for genus in of_species])


DECLARATION = DatasetDeclaration(
    name="plantnet300k",
    about="306,146 photographs of plants in 1,081 species and 303 genera, long-tailed: 243,916 / 31,118 / 31,112.",
    source=f"Garcin et al. (2021), {ADDRESS}",
    settings={**OF_RUN, **image_settings(_NORMALISATIONS)},
    load=load_plantnet300k,
    contradictions=crop_beyond_image,
    num_classes=_SPECIES,
)
