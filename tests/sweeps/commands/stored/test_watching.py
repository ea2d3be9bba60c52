"""``setsweep status --watch``: on and on while something is trained."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from setsweep.sweeps.commands.stored import watching
from setsweep.sweeps.commands.stored.watching import MOST, NOBODY, running_lines, watch
from setsweep.sweeps.records.running import RunningRun


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "WATCH_SECONDS", 0.0)


def _watched(moments: Sequence[Sequence[str]], *, terminal: bool = False) -> str:
    """What is shown while what is trained changes like this."""
    file, coming = io.StringIO(), iter(moments)
    console = Console(file=file, width=80, force_terminal=terminal)
    watch(lambda: "the table", lambda: next(coming), console)
    assert next(coming, None) is None, "it has ended too early"
    return file.getvalue()


def test_a_log_has_what_has_changed_and_it_ends_when_nothing_is_trained() -> None:
    shown = _watched([["epoch 1"], ["epoch 1"], ["epoch 2"], []])
    assert shown.split("\n") == ["the table", "epoch 1", "the table", "epoch 2", "the table", NOBODY, ""]


def test_a_terminal_is_drawn_in_place() -> None:
    shown = _watched([["epoch 1"], ["epoch 1"], []], terminal=True)
    assert shown.count("epoch 1") == 2
    assert shown.rstrip().endswith("\x1b[?25h")  # the cursor is shown again
    assert NOBODY in shown


def test_ctrl_c_ends_it_without_a_word() -> None:
    def interrupt() -> Sequence[str]:
        raise KeyboardInterrupt

    watch(lambda: "the table", interrupt, Console(file=io.StringIO()))


def test_of_many_runs_the_first_that_have_told_of_an_epoch_are_shown() -> None:
    runs = [RunningRun(key=str(seed), arm="avgk", seed=seed, epoch=seed % 2, epochs=9) for seed in range(MOST + 10)]
    lines = running_lines(runs, "val/top1_accuracy")
    assert lines[0] == "avgk, seed 1: epoch 1 of 9"
    assert lines[-1] == "and 10 more"
    assert len(lines) == MOST + 1
