"""Running a study: what is missing of it is trained, and what there is stays."""

from __future__ import annotations

import io
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from setsweep.sweeps.execution.errors import ExecutorError
from setsweep.sweeps.execution.executor import Outcome
from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.mlflow_address import view_path
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.executors import Where
from setsweep.sweeps.sweep.run_study import Ended, RunOptions, run_study

HOME = Path("results/tiny")

Run = Callable[..., tuple[Ended, list[str]]]


@pytest.fixture
def run(folder: Path) -> Run:
    """Calls run a study in this process and give how it ended, and the lines that were shown."""

    def call(study: Study, **options: Any) -> tuple[Ended, list[str]]:
        console = Console(file=io.StringIO(), width=200)
        ended = run_study(study, RunOptions(storage="results", where=Where(in_process=True), **options), console)
        assert isinstance(console.file, io.StringIO)
        return ended, console.file.getvalue().splitlines()

    return call


def test_a_study_is_run_to_its_end_and_its_parts_are_where_it_says(run: Run, tiny: Study) -> None:
    ended, said = run(tiny)
    assert (ended.stopped, ended.counts.done, ended.folder, ended.records) == (None, 3, HOME, "setsweep ui tiny")
    assert ended.address == f"http://127.0.0.1:5000/{view_path('1')}"
    assert ended.report.complete
    assert said[0] == "tiny: 3 of 3 runs to train, 1 at a time"
    assert said[-1].startswith("3 runs in ")
    assert said[-1].endswith(" % of the slots' time was training.")
    assert {path.name for path in HOME.iterdir()} >= {"journal.jsonl", "study.yaml", "models", "report"}


def test_what_is_known_is_not_trained_and_a_lost_report_is_written_again(run: Run, tiny: Study) -> None:
    run(tiny)
    shutil.rmtree(HOME / "report")
    ended, said = run(tiny)
    assert said == ["All 3 runs of tiny are done."]
    assert (HOME / "report" / "report.json").exists()
    assert ended.report.complete


def test_runs_that_failed_are_trained_again_where_that_is_asked_for_and_diverged_ones_never(
    run: Run, tiny: Study
) -> None:
    """A run that diverged would diverge again."""
    run(tiny)
    (run_0, result), (run_1, other), _ = Planner(tiny, Journal(HOME, read_only=True).results).runs()
    assert result is not None
    assert other is not None
    with Journal(HOME) as journal:
        journal.add_all([(run_0, replace(result, status="failed", reason="the disk was full", metrics={}))])
        journal.add_all([(run_1, replace(other, status="diverged", reason="nan", metrics={}))])
    assert run(tiny)[1] == ["All 3 runs of tiny have ended: 1 done, 2 diverged or failed."]
    ended, said = run(tiny, retry_failed=True)
    assert said[0] == "tiny: 1 of 3 runs to train, 1 at a time"
    assert [failure.reason for failure in ended.report.failures] == ["nan"]


def test_what_reading_the_study_has_changed_is_told(run: Run, tiny: Study) -> None:
    assert run(replace(tiny, notes=("[6, 8] and [this] left out.",)))[1][0] == "Note: [6, 8] and [this] left out."


def test_seeds_that_train_together_are_told(run: Run, tiny: Study) -> None:
    study = replace(tiny, resources=replace(tiny.resources, seeds_per_worker=3))
    ended, said = run(study)
    assert said[0] == "tiny: 3 of 3 runs to train, 1 at a time, each with seeds together where that pays"
    assert ended.report.complete


@pytest.mark.parametrize("before", [0, 1])
def test_an_executor_that_gives_up_before_the_first_result_ends_the_call_and_later_the_sweep(
    run: Run, tiny: Study, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    wait = LocalExecutor.wait

    def give_up(self: LocalExecutor, timeout: float) -> list[Outcome]:
        if len(Journal(HOME, read_only=True).results) == before:
            raise ExecutorError("slots must stay to the end, all went")
        return wait(self, timeout)

    monkeypatch.setattr(LocalExecutor, "wait", give_up)
    if before == 0:
        with pytest.raises(ExecutorError):
            run(tiny)
        assert not (HOME / "report").exists()
    else:
        ended, _ = run(tiny)
        assert isinstance(ended.stopped, ExecutorError)
        assert (ended.counts.done, ended.counts.total, ended.report.complete) == (1, 3, False)


def test_sigterm_stops_a_sweep_as_ctrl_c_does_and_means_what_it_meant_after_it(
    run: Run, tiny: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = LocalExecutor.wait

    def terminated(self: LocalExecutor, timeout: float) -> list[Outcome]:
        outcomes = wait(self, timeout)
        signal.raise_signal(signal.SIGTERM)
        return outcomes

    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(LocalExecutor, "wait", terminated)
        ended, _ = run(tiny)
    assert isinstance(ended.stopped, KeyboardInterrupt)
    assert signal.getsignal(signal.SIGTERM) is before
    assert run(tiny)[0].stopped is None


def test_a_study_can_be_run_in_a_thread_which_no_signal_reaches(run: Run, tiny: Study) -> None:
    got: list[Ended] = []
    thread = threading.Thread(target=lambda: got.append(run(tiny)[0]))
    thread.start()
    thread.join(60)
    assert [ended.counts.done for ended in got] == [3]
