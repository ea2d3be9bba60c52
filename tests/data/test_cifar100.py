from __future__ import annotations

from pathlib import Path

import pytest
import torch

from setsweep.data import load_base
from setsweep.data.cifar100 import FOLDER, MD5
from setsweep.data.dataset import Dataset
from setsweep.data.files import DataError, data_root


def test_the_split_is_balanced(cifar100: Dataset) -> None:
    assert cifar100.train.inputs.shape == (45_000, 3, 32, 32)
    assert set(cifar100.train.labels.bincount().tolist()) == {450}
    assert set(cifar100.val.labels.bincount().tolist()) == {50}
    assert set(cifar100.test.labels.bincount().tolist()) == {100}


def test_training_and_validation_together_are_torchvisions_training_images(cifar100: Dataset) -> None:
    from torchvision.datasets import CIFAR100

    images = CIFAR100(str(data_root(None)), train=True).data
    theirs = torch.from_numpy(images).permute(0, 3, 1, 2).flatten(1).long()
    ours = torch.cat([cifar100.train.inputs, cifar100.val.inputs]).flatten(1).long()

    weights = torch.arange(1, 3073)  # a sum that names an image all but uniquely
    assert torch.equal((ours @ weights).sort().values, (theirs @ weights).sort().values)


def test_superclasses_are_the_published_ones(cifar100: Dataset) -> None:
    assert cifar100.superclasses is not None
    assert cifar100.superclasses.bincount().tolist() == [5] * 20

    group = cifar100.superclasses[cifar100.class_names.index("shark")]
    fish = {name for name, other in zip(cifar100.class_names, cifar100.superclasses, strict=True) if other == group}
    assert fish == {"aquarium_fish", "flatfish", "ray", "shark", "trout"}


def test_a_subset_is_balanced_and_leaves_validation_and_test_alone(cifar100: Dataset) -> None:
    subset = load_base({"name": "cifar100", "subset": 10_000})

    assert set(subset.train.labels.bincount().tolist()) == {100}
    assert torch.equal(subset.val.inputs, cifar100.val.inputs)
    assert torch.equal(subset.test.labels, cifar100.test.labels)


def test_another_split_seed_holds_out_other_images(cifar100: Dataset) -> None:
    other = load_base({"name": "cifar100", "split_seed": 1})

    assert not torch.equal(other.val.inputs, cifar100.val.inputs)


def test_checksums_are_torchvisions() -> None:
    from torchvision.datasets import CIFAR100

    published = [*CIFAR100.train_list, *CIFAR100.test_list, [CIFAR100.meta["filename"], CIFAR100.meta["md5"]]]
    assert dict(published) == MD5
    assert CIFAR100.base_folder == FOLDER


def test_missing_files_are_said_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"cifar-100-python/meta' must exist, found none\. Set SETSWEEP_DATA or data\.root"
    ):
        load_base({"name": "cifar100"}, root=tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a pickle of CIFAR-100"])
def test_damaged_files_are_never_unpickled(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "meta").write_bytes(content)

    with pytest.raises(DataError, match=rf"meta' must have MD5 {MD5['meta']}, got \w+ \({len(content)} bytes\)"):
        load_base({"name": "cifar100"}, root=tmp_path)


def test_a_download_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchvision.datasets import CIFAR100

    monkeypatch.setattr(CIFAR100, "url", (tmp_path / "nowhere" / CIFAR100.filename).as_uri())

    with pytest.raises(DataError, match=r"Download of CIFAR-100 must succeed, got: .*Fetch it by hand, or try again\."):
        load_base({"name": "cifar100"}, root=tmp_path, download=True)
