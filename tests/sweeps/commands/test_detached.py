"""A study in the background of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.commands.detached import OUTPUT
from setsweep.sweeps.records.writing import writing_process

LONG = ("--set", "training.epochs=2000", "--set", "training.batch_size=16", "--in-process", "--detach")


def test_what_can_not_be_run_is_refused_before_anything_starts(setsweep: Callable[..., Any], small: Path) -> None:
    said = setsweep("run", small, "--detach", "--set", "k=99")
    assert said.code == 2
    assert not Path("setsweep-results").exists()
    never = setsweep("logs", small, "--follow")
    assert (never.code, "must have been begun by 'setsweep run --detach'" in never.err) == (2, True)


@pytest.mark.slow
def test_a_study_runs_on_in_the_background_until_it_is_stopped(setsweep: Callable[..., Any], small: Path) -> None:
    folder = Path("setsweep-results/small")
    began = setsweep("run", small, *LONG)
    assert began.code == 0, began.out
    process = writing_process(folder)
    assert f"small runs in the background, process {process}." in began.out
    second = setsweep("run", small, *LONG)
    assert (second.code, f"must not run already, got process {process}" in second.err) == (2, True)

    deadline = time.monotonic() + 60
    while "7 of 7 runs to train" not in (folder / OUTPUT).read_text():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    said = setsweep("stop", "small")
    assert (said.code, "small has stopped." in said.out) == (0, True)
    assert writing_process(folder) is None
    assert "of 7 runs are done and kept." in setsweep("logs", small, "--follow").out


@pytest.mark.slow
def test_what_the_background_says_is_followed_to_its_end(setsweep: Callable[..., Any], small: Path) -> None:
    assert setsweep("run", small, "--detach", "--in-process", "--max-runs", 2).code == 0
    said = setsweep("logs", small, "-f").out
    assert "budget.max_runs is 2: the sweep ends here, with 2 of 7 runs done and kept." in said
