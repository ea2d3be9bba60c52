"""The driver killed at any moment, then the same command again: nothing lost, nothing twice, the same table."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

STUDY = """
study: crash
data: {name: digits}
model: {name: linear}
training: {epochs: 3, batch_size: 64, optimizer: {name: sgd, lr: 0.1, momentum: 0.9}}
k: [2]
arms:
  cross_entropy: {}
  avgk: {alpha: {log_uniform: [0.1, 10]}}
search: {trials: 4, batch: 2, seeds: 1, objective: val/avg2_accuracy}
confirm: {seeds: 3}
"""
RUNS = 10  # 3 for cross_entropy; 4 trials and 3 for avgk
PATIENCE = 120.0


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sweeps", *arguments]


def run_to_the_end(folder: Path, *options: str) -> str:
    """The study's JSON report, after running what is left of it in this folder."""
    subprocess.run(
        command("run", "study.yaml", *options), cwd=folder, check=True, capture_output=True, timeout=PATIENCE
    )
    done = subprocess.run(
        command("report", "crash", "--format", "json"), cwd=folder, check=True, capture_output=True, timeout=PATIENCE
    )
    return done.stdout.decode()


def kill_after(folder: Path, results: int, *options: str) -> None:
    """Start the study and kill its driver when the journal holds that many results."""
    journal = folder / "setsweep-results" / "crash" / "journal.jsonl"
    driver = subprocess.Popen(
        command("run", "study.yaml", *options),
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    began = time.monotonic()
    while driver.poll() is None and not (
        journal.exists() and journal.read_text().count('"record":"result"') >= results
    ):
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.01)
    os.kill(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL, "the study was over before it could be killed"


def mlflow_runs(folder: Path) -> tuple[Counter[tuple[str, str]], set[str]]:
    """How often each (level, run key) is in MLflow, and the states that runs are in."""
    with sqlite3.connect(folder / "mlflow.db") as store:
        tags = (
            "select l.value, k.value from tags l join tags k using (run_uuid) where l.key='level' and k.key='run_key'"
        )
        rows = Counter(store.execute(tags).fetchall())
        states = {state for (state,) in store.execute("select distinct status from runs")}
    store.close()
    return rows, states


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Counter[tuple[str, str]]]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    (folder / "study.yaml").write_text(STUDY)
    report = run_to_the_end(folder, "--in-process")
    return report, mlflow_runs(folder)[0]


def assert_nothing_lost_or_twice(
    folder: Path, report: str, uninterrupted: tuple[str, Counter[tuple[str, str]]]
) -> None:
    assert report == uninterrupted[0]
    results = [json.loads(line) for line in (folder / "setsweep-results/crash/journal.jsonl").read_text().splitlines()]
    keys = Counter(record["result"]["key"] for record in results if record["record"] == "result")
    assert len(keys) == RUNS
    assert set(keys.values()) == {1}
    rows, states = mlflow_runs(folder)
    assert rows == uninterrupted[1]
    assert set(rows.values()) == {1}
    assert states == {"FINISHED"}


def test_a_killed_driver_loses_nothing_and_doubles_nothing(
    tmp_path: Path, uninterrupted: tuple[str, Counter[tuple[str, str]]]
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    for results in (1, 6):
        kill_after(tmp_path, results, "--in-process")
    report = run_to_the_end(tmp_path, "--in-process")
    assert_nothing_lost_or_twice(tmp_path, report, uninterrupted)


@pytest.mark.slow
def test_a_driver_killed_again_and_again_on_ray_gives_the_table_of_one_process(
    tmp_path: Path, uninterrupted: tuple[str, Counter[tuple[str, str]]]
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    for results in (0, 1, 4, 8):
        kill_after(tmp_path, results)
    report = run_to_the_end(tmp_path)
    assert_nothing_lost_or_twice(tmp_path, report, uninterrupted)
