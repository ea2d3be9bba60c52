"""``setsweep report`` where it has nothing to show, or nowhere to put it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.records import study_folder
from setsweep.sweeps.records.journal import Journal

Command = Callable[..., Any]


def test_a_format_that_there_is_none_of_is_told_before_the_study_is_looked_for(setsweep: Command) -> None:
    said = setsweep("report", "nosuch", "--format", "word")
    assert (said.code, said.out) == (2, "")
    assert said.err == ("setsweep: format must be one of csv, html, json, latex, markdown, terminal, got 'word'.\n")


@pytest.mark.parametrize("place", ["small.yaml", "small.yaml/below"])
def test_a_folder_that_cannot_be_written_is_told(setsweep: Command, small: Path, place: str) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    said = setsweep("report", small, "--out", place)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"setsweep: --out must be a folder that can be written, got {str(place)!r}: ")


@pytest.mark.parametrize("command", ["report", "record", "rescore", "sensitivity"])
def test_a_study_of_which_nothing_was_run_is_told_where_to_look(
    command: str, setsweep: Command, small: Path, folder: Path
) -> None:
    said = setsweep(command, small)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("setsweep: --storage must be a folder in which 'small' was run, got ")
    Journal(folder / "setsweep-results" / "small").close()
    assert "study 'small' must have a result to report, got none so far in" in setsweep(command, small).err


@pytest.mark.parametrize("command", ["report", "sensitivity"])
def test_the_journal_which_may_be_long_is_read_once(
    command: str, setsweep: Command, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    read: list[Path] = []

    class Counted(Journal):
        def __init__(self, folder: Path, *, read_only: bool = False, curves: bool = True) -> None:
            read.append(folder)
            super().__init__(folder, read_only=read_only, curves=curves)

    monkeypatch.setattr(study_folder, "Journal", Counted)
    assert setsweep(command, small).code == 0
    assert len(read) == 1
