"""``setsweep studies``: the bundled studies, each with what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setsweep.sweeps.study.text.source import bundled_studies


def test_every_bundled_study_is_told_with_its_question_its_data_and_its_arms(setsweep: Any) -> None:
    said = setsweep("studies")
    assert (said.code, said.err) == (0, "")
    entries = {each.split()[0]: each.splitlines() for each in said.out.split("\n\n")}
    assert list(entries) == bundled_studies()
    assert all(len(lines) > 2 for lines in entries.values()), "a study says what it is about"
    assert entries["demo"][-1].strip().startswith("On circle: cross_entropy, topk_grouping")


def test_bundled_studies_are_listed_whatever_lies_in_the_folder(setsweep: Any, folder: Path) -> None:
    listed = setsweep("studies").out
    (folder / "demo").write_text("no study")
    assert setsweep("studies").out == listed
    assert "cifar100-small" in listed
