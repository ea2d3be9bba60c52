"""``setsweep sensitivity`` as a user sees it: a small study that is trained, and what may go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

VARIED = """\
study: varied
data: {name: digits}
model: {name: mlp, hidden: 16}
training: {epochs: 2, batch_size: 256}
k: 2
arms: {cross_entropy: {}, avgk: {}}
confirm: {seeds: 2}
sensitivity: {avgk.alpha: [0.1, 1, 10], seeds: 2}
compare: {baseline: cross_entropy}
"""

Setsweep = Callable[..., Any]


@pytest.fixture
def varied(folder: Path) -> Path:
    """The file of a study of eight trainings in the current folder: alpha 1 is what is confirmed."""
    path = folder / "varied.yaml"
    path.write_text(VARIED)
    return path


def test_a_study_that_was_run_prints_its_sensitivity_and_writes_it(varied: Path, setsweep: Setsweep) -> None:
    from setsweep.sweeps import run_study

    result = run_study(varied, in_process=True, progress=False)
    assert result.complete
    assert {"sensitivity.html", "design-1.png"} <= {path.name for path in (result.folder / "report").iterdir()}
    said = setsweep("sensitivity", "varied")
    assert "avgk: alpha" in result.sensitivity()
    assert said.code == 0
    assert "avgk: alpha" in said.out
    assert "can't be told from the best (95 %)" in said.out or "is told from its neighbours (95 %)" in said.out
    assert "avgk: what makes scores differ" in said.out
    plain = json.loads(setsweep("sensitivity", "varied", "--format", "json", "--metric", "val/top2_accuracy").out)
    assert plain["metric"] == "val/top2_accuracy"
    other = setsweep("sensitivity", "varied", "--metric", "test/avg7_accuracy")
    assert (other.code, "metric must be an accuracy on val or test with k of 2" in other.err) == (2, True)
    out = setsweep("sensitivity", "varied", "--out", "pictures")
    assert "design-1.png" in out.out
    assert Path("pictures/design-1.png").stat().st_size > 10_000


def test_a_study_that_was_not_run_is_refused(varied: Path, setsweep: Setsweep) -> None:
    said = setsweep("sensitivity", varied)
    assert said.code == 2
    assert said.err.startswith("setsweep: --storage must be a folder in which 'varied' was run, got ")


def test_another_format_is_refused(varied: Path, setsweep: Setsweep) -> None:
    assert (
        "format must be one of terminal, markdown, json, csv, html"
        in setsweep("sensitivity", varied, "--format", "latex").err
    )


def test_plan_counts_the_runs_of_a_sensitivity_study(varied: Path, setsweep: Setsweep) -> None:
    # 2 x 2 confirmed, and 3 x 2.
    said = setsweep("plan", varied)
    assert "varied: 10 runs" in said.out
    assert "3 values x 2 seeds" in said.out
