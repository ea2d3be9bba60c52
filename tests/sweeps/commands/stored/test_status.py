"""``setsweep status`` while a study is running, asked at a moment when the sweep stands still."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records import status_file
from setsweep.sweeps.records.status_file import StatusFile
from setsweep.sweeps.records.study_folder import open_journal, study_folder
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.sweep.loop import Sweep
from setsweep.trainables.config.run_result import RunResult

PATIENCE = 60
HEADING = ["done", "running", "diverged", "failed", "waiting"]


class Pause:
    """Watches a sweep, which stands still while something is done after that many runs."""

    def __init__(self, runs: int, then: Callable[[], object]) -> None:
        self._left, self._then = runs, then

    def started(self, run: PlannedRun) -> None:
        """Nothing yet."""

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        self._left -= 1
        if self._left == 0:
            self._then()

    def tick(self) -> None:
        """Nothing now."""


@pytest.fixture
def kept(small: Path) -> Path:
    """The folder of the study, in which nothing has been run."""
    folder = study_folder("setsweep-results", "small")
    open_journal(read_study(small), folder).close()
    return folder


def test_a_running_study_is_shown_with_what_is_done_in_training_and_left(
    setsweep: Any, spawn: Callable[..., subprocess.Popen[str]], small: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When two of the seven runs are done, the one that waited for the only slot is next, and four are left."""
    monkeypatch.setattr(status_file, "WRITE_SECONDS", 0.0)
    said: list[str] = []

    def ask() -> None:
        said.append(setsweep("status").out)
        out, err = spawn("status", "small").communicate(timeout=PATIENCE)  # as a user asks, beside the sweep
        assert err == ""
        said.append(out)

    study = read_study(small)
    with open_journal(study, kept) as journal:
        planner = Planner(study, journal.results)
        Sweep(study, planner, LocalExecutor(), journal, kept, [StatusFile(kept, lambda: 300.0), Pause(2, ask)]).run()
    (heading, row), (left, _, *arms) = ([line.split() for line in table.splitlines()] for table in said)
    assert " ".join(left) == "about 5 min to go"
    assert heading == ["study", *HEADING]
    assert row == ["small", "2", "1", "0", "0", "4"]
    assert [arm[0] for arm in arms] == ["cross_entropy", "avgk"]
    assert [sum(int(arm[column]) for arm in arms) for column in range(1, 6)] == [2, 1, 0, 0, 4]


def test_a_study_that_can_not_be_read_from_here_hides_no_other(setsweep: Any, kept: Path) -> None:
    """As one whose loss is of a module that lies elsewhere."""
    other = kept.parent / "own"
    other.mkdir()
    text = (kept / "study.yaml").read_text().replace("study: small", "study: own")
    (other / "study.yaml").write_text(text.replace("arms:", "arms:\n  mine: {loss: 'of_elsewhere:own'}"))
    said = setsweep("status")
    assert [line.split()[0] for line in said.out.splitlines() if line.strip()] == ["study", "small"]
    assert said.err.startswith("Not listed: own, which must be readable from here: ")
    assert "of_elsewhere is in neither" in said.err
