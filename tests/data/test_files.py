from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from setsweep.data.files import DataError, check_md5, data_root, read_file, read_or_download


def test_the_argument_comes_before_the_environment_and_that_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SETSWEEP_DATA", str(tmp_path / "environment"))
    assert data_root(tmp_path / "argument") == tmp_path / "argument"
    assert data_root(None) == tmp_path / "environment"

    monkeypatch.delenv("SETSWEEP_DATA")
    assert data_root(None) == Path.home() / ".cache" / "setsweep"
    assert data_root("~/here") == Path.home() / "here"


def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        read_file(tmp_path / "train")

    assert str(refusal.value) == (
        f"Data file {str(tmp_path / 'train')!r} must exist, found none. Set SETSWEEP_DATA or data.root to the folder "
        "that holds it, or ask for the download with data.download: true."
    )


def test_a_folder_in_the_place_of_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must be readable, got Is a directory\."):
        read_file(tmp_path)


def test_a_damaged_file_is_named_with_what_was_found(tmp_path: Path) -> None:
    md5 = hashlib.md5(b"whole").hexdigest()
    check_md5(b"whole", md5, tmp_path / "train")

    with pytest.raises(
        DataError, match=rf"train' must have MD5 {md5}, got \w{{32}} \(3 bytes\): it is damaged\. Remove it\."
    ):
        check_md5(b"who", md5, tmp_path / "train")


def test_files_that_are_there_are_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"here")

    content = read_or_download(
        lambda: read_file(tmp_path / "file"), lambda: pytest.fail("fetched"), source="it", download=True
    )

    assert content == b"here"


def test_missing_files_are_fetched_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def get(*, download: bool) -> bytes:
        return read_or_download(
            lambda: read_file(path), lambda: (path.write_bytes(b"new"), None)[1], source="it", download=download
        )

    with pytest.raises(DataError, match="found none"):
        get(download=False)
    assert not path.exists()
    assert get(download=True) == b"new"
