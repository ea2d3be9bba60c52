"""``setsweep rescore``: what it refuses; what it gives is tested with the kept scores themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

STUDY = """\
study: kept
data: {name: digits}
model: {name: linear}
training: {epochs: 1, batch_size: 512}
k: [2]
arms: {cross_entropy: {}}
confirm: {seeds: 2}
keep: {scores: confirm}
"""


@pytest.fixture
def kept(setsweep: Any, folder: Path) -> None:
    """A study that has kept its scores, in the current folder."""
    (folder / "kept.yaml").write_text(STUDY)
    assert setsweep("run", "kept.yaml", "--in-process").code == 0


def test_a_format_that_there_is_none_of_is_refused_before_anything_is_read(setsweep: Any, folder: Path) -> None:
    said = setsweep("rescore", "no such study", "--format", "pdf")
    assert said.code == 2
    assert "format must be one of csv, html, json, latex, markdown, terminal, got 'pdf'." in said.err


@pytest.mark.usefixtures("kept")
def test_what_scores_tell_is_written_into_a_folder_that_is_made_or_refused(setsweep: Any, tmp_path: Path) -> None:
    said = setsweep("rescore", "kept", "--set", "k=[1,3]", "--out", tmp_path / "a" / "b")
    assert said.code == 0, said.err
    paths = [Path(line) for line in said.out.splitlines()[-4:]]
    assert [path.name for path in paths] == ["set_sizes.csv", "accuracy_by_k.csv", "per_class.csv", "per_class-1.png"]
    sizes, _, per_class = (path.read_text().splitlines() for path in paths[:3])
    assert {row.rpartition(",")[2] for row in sizes[1:]} == {"top1", "top3", "avg1", "avg3"}
    assert {" ".join(row.split(",")[-2:]) for row in per_class[1:]} == {"top 1", "avg 1", "top 3", "avg 3"}

    (tmp_path / "taken").write_text("")
    said = setsweep("rescore", "kept", "--out", tmp_path / "taken")
    assert said.code == 2
    assert f"--out must be a folder that can be written, got {str(tmp_path / 'taken')!r}: File exists." in said.err
