from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import torch

from setsweep.data import fashion_mnist as module
from setsweep.data import load_base
from setsweep.data.dataset import Dataset
from setsweep.data.fashion_mnist import DEBIAN_FOLDER, FOLDER, MD5
from setsweep.data.files import DataError, data_root


@pytest.fixture
def packed_folder() -> Path:
    """A folder of the machine with the four .gz files."""
    for folder in (data_root(None) / FOLDER, data_root(None), DEBIAN_FOLDER):
        if all((folder / f"{name}.gz").exists() for name in MD5):
            return folder
    pytest.skip("needs the .gz files of fashion_mnist: set SETSWEEP_DATA to the folder that holds them")


@pytest.fixture
def no_debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DEBIAN_FOLDER", tmp_path / "no such package")


def test_the_split_is_balanced(fashion_mnist: Dataset) -> None:
    assert fashion_mnist.train.inputs.shape == (55_000, 1, 28, 28)
    assert set(fashion_mnist.train.labels.bincount().tolist()) == {5500}
    assert set(fashion_mnist.val.labels.bincount().tolist()) == {500}
    assert set(fashion_mnist.test.labels.bincount().tolist()) == {1000}


def test_class_names_are_torchvisions(fashion_mnist: Dataset) -> None:
    from torchvision.datasets import FashionMNIST

    assert list(fashion_mnist.class_names) == FashionMNIST.classes


def test_groups_are_upper_body_feet_and_the_rest(fashion_mnist: Dataset) -> None:
    assert fashion_mnist.superclasses is not None
    groups: list[set[str]] = [set(), set(), set()]
    for name, group in zip(fashion_mnist.class_names, fashion_mnist.superclasses.tolist(), strict=True):
        groups[group].add(name)

    assert groups == [
        {"T-shirt/top", "Pullover", "Coat", "Shirt"},
        {"Sandal", "Sneaker", "Ankle boot"},
        {"Trouser", "Dress", "Bag"},
    ]


def test_files_are_found_packed_or_not_in_the_root_or_where_torchvision_puts_them(
    fashion_mnist: Dataset, packed_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "direct").mkdir()
    (tmp_path / "nested" / FOLDER).mkdir(parents=True)
    for name in MD5:
        (tmp_path / "direct" / f"{name}.gz").symlink_to(packed_folder / f"{name}.gz")
        (tmp_path / "nested" / FOLDER / name).write_bytes(gzip.decompress((packed_folder / f"{name}.gz").read_bytes()))

    for root in ("direct", "nested"):
        dataset = load_base({"name": "fashion_mnist"}, root=tmp_path / root)
        assert torch.equal(dataset.val.inputs, fashion_mnist.val.inputs)
        assert torch.equal(dataset.train.labels, fashion_mnist.train.labels)


@pytest.fixture
def mirror(packed_folder: Path) -> Iterator[str]:
    """The address of a web server on this machine that serves the .gz files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(packed_folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("no_debian")
def test_a_download_is_put_where_torchvision_would_put_it(
    packed_folder: Path, mirror: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchvision.datasets import FashionMNIST

    packed = [packed_folder / f"{name}.gz" for name in MD5]
    monkeypatch.setattr(FashionMNIST, "mirrors", [mirror])
    sums = [(path.name, hashlib.md5(path.read_bytes()).hexdigest()) for path in packed]
    monkeypatch.setattr(FashionMNIST, "resources", sums)

    dataset = load_base({"name": "fashion_mnist"}, root=tmp_path, download=True)

    assert len(dataset.train) == 55_000
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == sorted(path.name for path in packed)


@pytest.mark.usefixtures("no_debian")
def test_missing_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FashionMNIST/raw/t10k-images-idx3-ubyte\.gz' must exist, found none\."):
        load_base({"name": "fashion_mnist"}, root=tmp_path)


def test_one_missing_file_of_the_four_is_said(tmp_path: Path) -> None:
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"")

    with pytest.raises(DataError, match=r"t10k-images-idx3-ubyte\.gz' must exist, found none\."):
        load_base({"name": "fashion_mnist"}, root=tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("t10k-images-idx3-ubyte", b"too short", f"MD5 {MD5['t10k-images-idx3-ubyte']}"),
        ("t10k-images-idx3-ubyte.gz", gzip.compress(b"other content", mtime=0), f"MD5 {MD5['t10k-images-idx3-ubyte']}"),
        ("t10k-images-idx3-ubyte.gz", gzip.compress(b"cut off", mtime=0)[:-6], "content that gzip unpacks"),
        ("t10k-images-idx3-ubyte.gz", b"no gzip file", "content that gzip unpacks"),
    ],
)
def test_damaged_files_are_said(tmp_path: Path, name: str, content: bytes, rule: str) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(DataError, match=rf"t10k-images-idx3-ubyte(\.gz)?' must have {rule}, got .*: it is damaged\."):
        load_base({"name": "fashion_mnist"}, root=tmp_path)
