"""A command of the user's is called when a sweep has ended, however it has."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.commands.on_end import call_command, check_command

WRITES = "import json, os, sys; json.dump([dict(os.environ), sys.argv[1:]], open('told.json', 'w'))"


def _told(folder: Path) -> tuple[dict[str, str], list[str]]:
    environment, arguments = json.loads((folder / "told.json").read_text())
    return {name: value for name, value in environment.items() if name.startswith("SETSWEEP_")}, arguments


@pytest.fixture
def writes(tmp_path: Path) -> str:
    """A command that writes down what it is told."""
    (tmp_path / "writes.py").write_text(WRITES)
    return f"'{sys.executable}' writes.py 'two words' $HOME"


def test_it_is_told_of_study_state_runs_and_report_without_a_shell(
    folder: Path, small: Path, setsweep: Callable[..., Any], writes: str
) -> None:
    said = setsweep("run", small, "--in-process", "--on-end", writes)
    assert said.code == 0, said
    told, arguments = _told(folder)
    assert told["SETSWEEP_STUDY"] == "small"
    assert told["SETSWEEP_STATE"] == "done"
    assert told["SETSWEEP_RUNS"] == "7 of 7 runs"
    assert (Path(told["SETSWEEP_REPORT"]) / "report.md").exists()
    assert arguments == ["two words", "$HOME"]


def test_a_study_that_is_refused_calls_it_as_well(
    folder: Path, small: Path, setsweep: Callable[..., Any], writes: str
) -> None:
    said = setsweep(
        "run", small, "--in-process", "--set", f"data={{name: cifar100, root: {folder}}}", "--on-end", writes
    )
    assert said.code == 2
    told, _ = _told(folder)
    assert (told["SETSWEEP_STATE"], told["SETSWEEP_REPORT"]) == ("refused", "")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "no-such-program-anywhere --loud",
            "--on-end must be a command that can be run, got 'no-such-program-anywhere",
        ),
        ("", "--on-end must be a command that can be run, got ''."),
        ("echo 'open", '--on-end must be a command, got "echo \'open": No closing quotation.'),
    ],
)
def test_a_command_that_can_not_be_called_is_told_before_anything_is_trained(command: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_command(command)
    assert str(caught.value).startswith(said)


def test_what_goes_wrong_with_it_is_a_sentence() -> None:
    ended = {"study": "small", "state": "done", "runs": "7 of 7 runs", "report": None}
    arguments = check_command(f"'{sys.executable}' -c 'raise SystemExit(3)'")
    assert call_command(arguments, **ended).endswith("ended with 3.")  # type: ignore[arg-type]
    assert call_command([], **ended) == ""  # type: ignore[arg-type]
    assert call_command(["/nowhere/at/all"], **ended).startswith("--on-end: /nowhere/at/all has not ended: ")  # type: ignore[arg-type]
