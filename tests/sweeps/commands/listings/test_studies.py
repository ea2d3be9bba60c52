"""``setsweep studies``: the bundled studies, each with what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setsweep.sweeps.study.text.source import bundled_studies


def test_every_bundled_study_has_a_row_with_its_data_and_its_arms(setsweep: Any) -> None:
    said = setsweep("studies")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0].split() == ["study", "data", "arms", "about"]
    for name in bundled_studies():
        (row,) = [line.split() for line in lines if line.split()[:1] == [name]]
        assert len(row) > 3, "a study says what it is about"
    (demo,) = [line for line in lines if line.startswith("demo ")]
    assert {"cross_entropy,", "digits"} & set(demo.split())


def test_bundled_studies_are_listed_whatever_lies_in_the_folder(setsweep: Any, folder: Path) -> None:
    listed = setsweep("studies").out
    (folder / "demo").write_text("no study")
    assert setsweep("studies").out == listed
    assert "cifar100-small" in listed
