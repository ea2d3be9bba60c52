from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from setsweep.data import load_base
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError, data_root
from setsweep.data.image_files import ImageFiles
from setsweep.data.plantnet300k import FOLDERS, LISTS, genera, read_species


def test_classes_are_the_species_in_the_order_of_their_ids(plantnet300k: Dataset) -> None:
    files = plantnet300k.train.inputs

    assert isinstance(files, ImageFiles)
    assert plantnet300k.num_classes == 1081
    assert plantnet300k.class_names[3] == "Genus000 species3 L."
    assert files.path(3).parts[-4:-1] == ("images", "train", str(1_355_868 + 7 * 3))
    assert plantnet300k.train.labels.tolist() == list(range(1081))
    assert plantnet300k.input_shape == (3, 224, 224)


def test_superclasses_are_the_genera(plantnet300k: Dataset) -> None:
    assert plantnet300k.superclasses is not None

    assert plantnet300k.superclasses[:9].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert len(plantnet300k.superclasses.unique()) == 271  # 1081 species by fours


def test_genera_are_the_first_words_in_alphabetical_order() -> None:
    assert genera(("Sedum acre L.", "Acacia × hybrida", "Sedum album L.")).tolist() == [1, 0, 1]


def test_the_other_layout_is_read_too(plantnet_root: Path, tmp_path: Path) -> None:
    ours, folder = plantnet_root / FOLDERS[0], tmp_path / FOLDERS[1]
    folder.mkdir()
    for split in ("train", "val", "test"):
        (folder / f"images_{split}").symlink_to(ours / "images" / split)
    shutil.copy(ours / LISTS[0], folder / LISTS[1])

    dataset = load_base({"name": "plantnet300k", "normalisation": "plantnet"}, root=tmp_path)

    assert isinstance(dataset.test.inputs, ImageFiles)
    assert dataset.test.inputs.path(0).parts[-3] == "images_test"
    assert dataset.mean == (0.4425, 0.4695, 0.3266)
    assert len(dataset.test) == 1081


def test_missing_species_are_named(tmp_path: Path, plantnet_root: Path) -> None:
    folder = tmp_path / FOLDERS[0]
    folder.mkdir()
    shutil.copy(plantnet_root / FOLDERS[0] / LISTS[0], folder)
    for split in ("train", "val", "test"):
        for species in ("1355868", "1355875"):
            (folder / "images" / split / species).mkdir(parents=True)

    with pytest.raises(DataError, match=r"one folder for each of the 1081 species in its list, got 2; these differ: "):
        load_base({"name": "plantnet300k"}, root=tmp_path)


@pytest.mark.parametrize(
    ("content", "rule"),
    [("{", "must have JSON"), ("[]", "must have the names of 1081 species"), ('{"1": 2}', "the names of 1081 species")],
)
def test_a_damaged_list_is_said(tmp_path: Path, content: str, rule: str) -> None:
    (tmp_path / LISTS[0]).write_text(content)

    with pytest.raises(DataError, match=rf"{LISTS[0]}.*{rule}.*: it is damaged\."):
        read_species(tmp_path)


def test_missing_folders_are_said_with_where_to_get_them(tmp_path: Path, plantnet_root: Path) -> None:
    with pytest.raises(DataError, match=r"plantnet300k' must exist, found none\. Fetch and unpack https://doi\.org"):
        load_base({"name": "plantnet300k"}, root=tmp_path)

    folder = tmp_path / FOLDERS[0]
    (folder / "images").mkdir(parents=True)
    shutil.copy(plantnet_root / FOLDERS[0] / LISTS[0], folder)
    with pytest.raises(DataError, match=r"images/train' must exist, found none\. Fetch and unpack"):
        load_base({"name": "plantnet300k"}, root=tmp_path)


def test_the_published_list_has_1081_species_in_303_genera() -> None:
    folder = data_root(None) / FOLDERS[0]
    if not any((folder / name).exists() for name in LISTS):
        pytest.skip("needs the species list of plantnet300k: set SETSWEEP_DATA to the folder that holds it")

    species = read_species(folder)

    groups = genera(tuple(species.values()))
    assert len(species) == 1081
    assert groups.max() == 302
    assert (groups.bincount() == 1).sum() == 164
    indices = folder / "class_idx_to_species_id.json"
    if indices.exists():
        published = json.loads(indices.read_text())
        assert [published[str(index)] for index in range(1081)] == list(species)
    assert torch.equal(groups.unique(), torch.arange(303))
