"""Storage that goes while a study runs ends the sweep with a sentence, and never as if all were well."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.errors import StorageLostError
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import FILE
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.loop import Sweep
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult


class Loss:
    """Does something to the study's folder when a run has its result."""

    def __init__(self, what: Callable[[], object]) -> None:
        self._what = what

    def started(self, run: PlannedRun) -> None:
        """Nothing."""

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """See the class."""
        self._what()

    def tick(self) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    "what",
    [
        lambda folder: (folder / FILE).unlink(),
        lambda folder: (folder / FILE).rename(folder / "moved"),
        shutil.rmtree,
        lambda folder: (shutil.copy(folder / FILE, folder / "new"), (folder / "new").replace(folder / FILE)),
    ],
    ids=["journal removed", "journal moved", "folder removed", "journal replaced"],
)
def test_a_journal_that_goes_ends_the_sweep(study: Study, tmp_path: Path, what: Callable[[Path], object]) -> None:
    folder = tmp_path / "results"
    with Journal(folder) as journal:
        planner = Planner(study, journal.results)
        watchers = [Loss(lambda: what(folder))]
        sweep = Sweep(study, planner, SimulatedExecutor(_outcome, slots=2), journal, folder, watchers)
        with pytest.raises(StorageLostError, match=r"journal\.jsonl must stay where it is while the study runs"):
            sweep.run()
    assert planner.done < planner.total


def test_a_storage_that_is_removed_ends_the_command_with_1_and_a_sentence(
    setsweep: Callable[..., Any], small: Path
) -> None:
    folder = Path("setsweep-results/small").absolute()

    def remove() -> None:
        while not ((folder / FILE).exists() and '"status"' in (folder / FILE).read_text()):
            time.sleep(0.01)
        shutil.rmtree(folder)

    removing = threading.Thread(target=remove)
    removing.start()
    said = setsweep("run", small, "--in-process", "--set", "training.epochs=40")
    removing.join()
    assert said.code == 1, said
    assert "journal.jsonl must stay where it is while the study runs" in said.err
    assert "Traceback" not in said.err


def _outcome(config: RunConfig) -> RunResult:
    values = {"val/avg2_accuracy": 0.5, "test/avg2_accuracy": 0.5}
    return RunResult(key=config.key, status="done", metrics=values)
