"""The files of a submitted study as text."""

from __future__ import annotations

import base64
import io
import os
import zipfile
from pathlib import Path

import pytest

from setsweep.sweeps.execution.job_files import MOST_BYTES, from_text, to_text


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    (before / "package").mkdir(parents=True)
    (before / "study.yaml").write_text("study: é\n", encoding="utf-8")
    (before / "package" / "model.py").write_bytes(b"\r\nx = 1")
    text = to_text(before)
    assert text is not None
    assert text.isascii()
    from_text(text, after)
    assert {path.relative_to(after).as_posix(): path.read_bytes() for path in after.rglob("*") if path.is_file()} == {
        "study.yaml": "study: é\n".encode(),
        "package/model.py": b"\r\nx = 1",
    }


def test_files_that_are_too_large_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(os.urandom(MOST_BYTES))  # which does not get smaller
    assert to_text(tmp_path) is None


@pytest.mark.parametrize("text", ["", "no base 64", base64.b64encode(b"no archive").decode()])
def test_other_text_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="files of a job must be readable"):
        from_text(text, tmp_path)


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../outside", "")
        archive.writestr("/tmp/outside", "")
    from_text(base64.b64encode(packed.getvalue()).decode(), tmp_path / "inside")
    assert not (tmp_path / "outside").exists()
    assert all(path.is_relative_to(tmp_path / "inside") for path in tmp_path.rglob("outside"))
