"""``setsweep run``: what it prints, its exit codes, and how it goes on where it was stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.errors import ExecutorError, UnseenStorageError
from setsweep.sweeps.execution.executor import Outcome
from setsweep.sweeps.execution.local_executor import LocalExecutor
from setsweep.sweeps.sweep.loop import Sweep

Command = Callable[..., Any]

JOURNAL = "setsweep-results/small/journal.jsonl"
PATIENCE = 120


def test_a_run_prints_the_table_and_where_everything_is(setsweep: Command, small: Path) -> None:
    said = setsweep("run", small, "--in-process")
    assert said.code == 0
    assert "Complete. 7 runs: 7 done." in said.out
    assert "cross_entropy" in said.out
    assert "Differences to cross_entropy" in said.out
    assert "small: 7 of 7 runs to train, 1 at a time" in said.err
    assert "Tables and figures: setsweep-results/small/report   MLflow: setsweep ui small" in said.err
    results = "http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=means"
    assert f"\n{results}\n" in said.err
    assert setsweep("report", "small").err == f"MLflow: {results}\n"
    assert (small.parent / "setsweep-results/small/report/report.html").exists()
    assert len(list(small.parent.glob("setsweep-results/small/models/*/model.pt"))) == 2
    assert not list(small.parent.glob("setsweep-results/small/checkpoints/*"))


def test_a_finished_study_is_not_trained_again_and_prints_the_same_table(setsweep: Command, small: Path) -> None:
    first = setsweep("run", small, "--in-process")
    before = _contents(small.parent)
    again = setsweep("run", small)  # without --in-process: no cluster is needed
    assert (again.code, again.out) == (0, first.out)
    assert "All 7 runs of small are done." in again.err
    assert _contents(small.parent) == before


def test_a_finished_study_needs_neither_ray_nor_mlflow(setsweep: Command, small: Path) -> None:
    setsweep("run", small, "--in-process")
    code = f"""
import sys
from setsweep.sweeps.cli import main
assert main(["run", {str(small)!r}]) == 0
print([name for name in ("ray", "mlflow") if name in sys.modules])
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_an_added_arm_is_all_that_is_trained(setsweep: Command, small: Path) -> None:
    setsweep("run", small, "--in-process")
    before = _lines()
    said = setsweep("run", small, "--in-process", "--set", "arms.focal={}")
    assert said.code == 0
    assert "small: 2 of 9 runs to train" in said.err
    new = [json.loads(line) for line in _lines()[len(before) :]]
    assert [record["arm"] for record in new if record["record"] == "result"] == ["focal", "focal"]


def test_another_study_of_the_same_name_is_refused_with_what_differs_and_taken_with_replace(
    setsweep: Command, small: Path
) -> None:
    setsweep("run", small, "--in-process")
    changed = (small, "--in-process", "--set", "training.epochs=3")
    refused = setsweep("run", *changed)
    assert refused.code == 2
    assert "  training.epochs: 2 before, 3 now\n" in refused.err
    for choice in ("another name", "--storage", "--replace"):
        assert choice in refused.err
    taken = setsweep("run", *changed, "--replace")
    assert taken.code == 0
    assert "small: 7 of 7 runs to train" in taken.err
    assert "Complete. 7 runs: 7 done." in taken.out
    back = setsweep("run", small, "--in-process", "--replace")
    assert "All 7 runs of small are done." in back.err


def test_a_diverging_arm_is_counted_and_its_reason_shown(setsweep: Command, small: Path) -> None:
    said = setsweep("run", small, "--in-process", "--set", "training.optimizer.lr=1e30")
    assert said.code == 1
    assert "Complete. 7 runs: 0 done, 7 diverged or failed." in said.out
    assert "0 of 2" in said.out
    assert "must be finite, got nan" in said.out
    assert "diverged: cross_entropy seed 0: training loss must be finite" in " ".join(said.err.split())
    assert setsweep("report", "small").code == 1
    again = setsweep("run", small, "--set", "training.optimizer.lr=1e30").err
    assert "All 7 runs of small have ended: 0 done, 7 diverged or failed." in again


BROKEN = """\
from torch import nn


class Broken(nn.Linear):
    def forward(self, inputs):
        assert len(inputs) == 1, "a network for one example at a time"
        return super().forward(inputs.flatten(1))


def network(input_shape):
    return Broken(64, 8), 8
"""


def test_failed_runs_are_trained_again_on_demand(
    setsweep: Command, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that works when it is tried and not when it is trained: every run fails, and fails again."""
    (small.parent / "broken_nets.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(small.parent)
    wrong = (small, "--in-process", "--set", "model={name: broken_nets:network}")
    assert setsweep("run", *wrong).code == 1
    before = len(_lines())
    assert setsweep("run", *wrong).code == 1
    assert len(_lines()) == before
    assert setsweep("run", *wrong, "--retry-failed").code == 1
    assert len(_lines()) == before + 7


@pytest.mark.parametrize(
    ("stop", "where"), [(signal.SIGINT, ["--in-process"]), (signal.SIGTERM, ["--in-process"]), (signal.SIGTERM, [])]
)
def test_a_stopped_study_says_how_to_go_on_and_does(
    setsweep: Command, spawn: Command, small: Path, stop: signal.Signals, where: list[str]
) -> None:
    if signal.getsignal(stop) is signal.SIG_IGN:
        pytest.skip("needs a signal that is not ignored, as SIGINT is in the background of a script")
    small.write_text(small.read_text().replace("epochs: 2", "epochs: 150, evaluate_every: 150"))
    process = spawn("run", small, *where)
    _until(lambda: len(_results()) >= 2, process)

    os.kill(process.pid, stop)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "Started a local Ray instance" not in err, "by Tune, after the sweep's own had ended"
    assert "runs are done and kept. The same command goes on from here." in err
    assert 0 < err.index("Stopping. What is being trained goes on") < err.index("runs are done and kept")
    assert "Incomplete." in out
    done = len(_results())
    assert 2 <= done < 7

    assert setsweep("status").out.splitlines()[1].split()[2] == "0", "nothing is being trained any more"
    assert "Incomplete." in setsweep("report", "small").out
    said = setsweep("run", small, "--in-process")
    assert said.code == 0
    assert f"small: {7 - done} of 7 runs to train" in said.err
    assert "Complete. 7 runs: 7 done." in said.out


def test_sigterm_before_the_training_is_told_as_ctrl_c_is(
    setsweep: Command, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "setsweep.sweeps.sweep.run_study.check_runs", lambda *_, **__: signal.raise_signal(signal.SIGTERM)
    )
    said = setsweep("run", small, "--in-process")
    assert (said.code, said.err) == (130, "setsweep: stopped. The same command goes on from here.\n")


@pytest.mark.parametrize("before", [0, 3])
def test_a_study_whose_cluster_gives_up_keeps_and_shows_what_is_done(
    setsweep: Command, small: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    def give_up(self: LocalExecutor, timeout: float) -> list[Outcome]:
        if len(_results()) == before:
            raise ExecutorError("slots must stay to the end, all went")
        return wait(self, timeout)

    wait = LocalExecutor.wait
    with monkeypatch.context() as patched:
        patched.setattr(LocalExecutor, "wait", give_up)
        said = setsweep("run", small, "--in-process")
    assert said.code == 1
    assert said.err.splitlines()[-1] == "setsweep: slots must stay to the end, all went"
    assert ("Incomplete." in said.out) == (before > 0)
    assert ("3 of 7 runs are done and kept. The same command goes on from here." in said.err) == (before > 0)
    assert _statuses() == ({"FINISHED", "KILLED"} if before else set())

    again = setsweep("run", small, "--in-process")
    assert again.code == 0
    assert f"small: {7 - before} of 7 runs to train" in again.err
    assert _statuses() == {"FINISHED"}


def _statuses() -> set[str]:
    """Those that runs in MLflow have."""
    with contextlib.closing(sqlite3.connect("mlflow.db")) as database:
        return {status for (status,) in database.execute("select status from runs")}


def _lines() -> list[str]:
    path = Path(JOURNAL)
    return path.read_text().splitlines() if path.exists() else []


def _results() -> list[str]:
    return [line for line in _lines() if line.startswith('{"record":"result"')]


def _contents(folder: Path) -> dict[str, tuple[int, float]]:
    """Size and time of every file below a folder."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime) for path in folder.rglob("*") if path.is_file()}


def _until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(("error", "code"), [(UnseenStorageError, 2), (ExecutorError, 1)])
def test_a_storage_that_workers_do_not_see_is_bad_input_and_a_broken_cluster_is_none(
    setsweep: Callable[..., Any], small: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception], code: int
) -> None:
    def refuse(*_: object) -> None:
        raise error("which one")

    monkeypatch.setattr(Sweep, "run", refuse)
    said = setsweep("run", small, "--in-process")
    assert (said.code, "setsweep: which one" in said.err) == (code, True)
