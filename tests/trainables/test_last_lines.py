"""What a run writes is shown, and its last lines are kept."""

from __future__ import annotations

import sys

import pytest

from setsweep.trainables.last_lines import MOST_CHARACTERS, last_lines


def test_lines_are_shown_and_the_last_ones_kept_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    with last_lines(most=3) as kept:
        for number in range(5):
            print("line", number, file=sys.stderr if number % 2 else sys.stdout)
        assert kept() == "line 2\nline 3\nline 4\n"
    shown = capsys.readouterr()
    assert shown.out == "line 0\nline 2\nline 4\n"
    assert shown.err == "line 1\nline 3\n"


def test_a_line_without_an_end_is_kept_too_and_a_long_one_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with last_lines() as kept:
        print("x" * 3 * MOST_CHARACTERS)
        sys.stdout.write("step 3 of 7")
        assert kept() == "x" * MOST_CHARACTERS + "\nstep 3 of 7\n"
    assert len(capsys.readouterr().out) == 3 * MOST_CHARACTERS + 1 + 11


def test_the_streams_are_as_before_whatever_happens() -> None:
    before = sys.stdout, sys.stderr

    def failing() -> None:
        with last_lines():
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        failing()
    assert (sys.stdout, sys.stderr) == before
