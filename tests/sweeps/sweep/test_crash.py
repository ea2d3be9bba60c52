"""A driver that is killed (``make kills``) leaves a cluster; the next goes on beside it. More kills: test_kills.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

PATIENCE = 150
JOURNAL = Path("setsweep-results/small/journal.jsonl")
REPORT = Path("setsweep-results/small/report/report.json")


@pytest.fixture
def slower(small: Path) -> Path:
    """The small study, image by image too, with runs of about a third of a second, so that a kill hits one."""
    text = small.read_text().replace("epochs: 2", "epochs: 60, evaluate_every: 20")
    small.write_text(text.replace("baseline: cross_entropy", "baseline: cross_entropy, images: true"))
    return small


@pytest.fixture
def uninterrupted(setsweep: Command, slower: Path) -> bytes:
    """The JSON report of the study when nothing happens to it."""
    assert (
        setsweep("run", slower, "--in-process", "--storage", "apart", "--tracking-uri", "sqlite:///apart.db").code == 0
    )
    report = Path("apart/small/report/report.json").read_bytes()
    assert json.loads(report)["over_images"][0]["by_seed"], "what single images say is to be the same as well"
    return report


@pytest.mark.kills
@pytest.mark.timeout(300)
def test_a_study_whose_driver_is_killed_on_ray_goes_on_beside_what_is_left_of_it(
    spawn: Command, slower: Path, uninterrupted: bytes, snapshot: Callable[[Path], Any]
) -> None:
    _kill(spawn("run", slower), when=lambda: len(_results()) >= 2)
    _finish(spawn("run", slower))
    _check(slower.parent, uninterrupted, snapshot)


def _kill(process: subprocess.Popen[str], *, when: Callable[[], bool]) -> None:
    """Kill the driver, and it alone, with signal 9; it may have come to its end before."""
    deadline = time.monotonic() + PATIENCE
    while not when() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=PATIENCE)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _finish(process: subprocess.Popen[str]) -> None:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Complete. 7 runs: 7 done." in out


def _check(folder: Path, uninterrupted: bytes, snapshot: Callable[[Path], Any]) -> None:
    """Journal and MLflow hold every run once, none is left open, and the report is the same to the byte."""
    assert sorted(Counter(_results()).values()) == [1] * 7
    recorded = snapshot(folder)  # finds each run once, or fails
    assert Counter(level for level, _ in recorded) == {"study": 1, "aggregate": 3 + 2, "run": 7}
    assert {run["status"] for run in recorded.values()} == {"FINISHED"}
    assert {key for level, key in recorded if level == "run"} == set(_results())
    assert REPORT.read_bytes() == uninterrupted
    assert len(list(folder.glob("setsweep-results/small/models/*/model.pt"))) == 2
    assert not list(folder.glob("setsweep-results/small/checkpoints/*"))


def _results() -> list[str]:
    """The keys of the results in the journal, in their order; the last line may be half-written."""
    whole = JOURNAL.read_text().rpartition("\n")[0].splitlines() if JOURNAL.exists() else []
    records = [json.loads(line) for line in whole]
    return [record["result"]["key"] for record in records if record["record"] == "result"]
