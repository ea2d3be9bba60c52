"""``setsweep report`` where it has nothing to show, or nowhere to put it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
    assert said.err.startswith(f"setsweep: --out must be a folder that can be written, got {place}: ")
