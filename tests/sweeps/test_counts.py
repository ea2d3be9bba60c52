"""Plan, screen, status, report and run count alike the runs of a study that races, and whose runs fail, half way."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.study_folder import open_journal, stored_planner
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.progress import Progress
from setsweep.trainables.config.run_result import RunResult

STUDY = """\
study: raced
data: {name: digits}
model: {name: linear}
training: {epochs: 1, batch_size: 512}
k: [2]
arms:
  cross_entropy: {}
  avgk: {alpha: {log_uniform: [0.1, 10]}}
  again: {loss: cross_entropy}
search: {trials: 6, sampler: qmc, race: {seeds: 3}}
confirm: {seeds: 3}
"""
RATE = "seconds_per_epoch: {cross_entropy: 1, avgk: 1, again: 1}\n"
FOLDER = Path("setsweep-results/raced")
# The race: 6 trials with a seed, 4 of them with 3. Confirmed: the choice of avgk and its default, the two others.
TOTAL = (6 + 4 * 2) + 3 * 4


@pytest.fixture
def study(folder: Path) -> Study:
    (folder / "raced.yaml").write_text(STUDY)
    (folder / "rate.yaml").write_text(RATE)
    return read_study("raced.yaml")


def _outcomes(planner: Planner) -> Iterator[tuple[PlannedRun, RunResult]]:
    """Runs as the planner gives them; every fifth diverges, the seventh fails; the seed alone decides the others."""
    for number in range(TOTAL):
        run = planner.next_run()
        if not isinstance(run, PlannedRun):
            return
        status = "failed" if number == 7 else "diverged" if number % 5 == 4 else "done"
        value = 0.5 + run.seed % 7 / 100
        metrics = {f"{split}/{rule}2_accuracy": value for split in ("val", "test") for rule in ("top", "avg")}
        result = RunResult(key=run.key, status=status, metrics=metrics if status == "done" else {})
        planner.tell(result)
        yield run, result


def _go_on(study: Study, runs: int) -> None:
    with open_journal(study, FOLDER) as journal:
        planner = Planner(study, journal.results, journal.trials)
        for run, result in islice(_outcomes(planner), runs):
            journal.add_trials(planner.new_trials())
            journal.add_all([(run, result)])


def _states(setsweep: Any, study: Study) -> dict[str, list[int]]:
    """Total, done, diverged or failed, and left, as each of them says."""
    plan = json.loads(setsweep("plan", "raced.yaml", "--rate", "rate.yaml", "--slots", 2, "--json").out)
    [status] = json.loads(setsweep("status", "--json").out)["studies"]
    report = json.loads(setsweep("report", "raced", "--format", "json").out)["runs"]
    screen = Progress(study, stored_planner(study, FOLDER), console=Console(file=io.StringIO())).summary()
    done, total, running, failed, left = map(int, re.findall(r"\d+", screen)[:5])
    assert running == 0
    return {
        "plan": _four(plan["runs"]),
        "plan by arm": _sums(plan["arms"]),
        "status": _four(status["runs"]),
        "status by arm": _sums(status["arms"]),
        "report": [report[state] for state in ("planned", "done", "failed", "waiting")],
        "screen": [total, done, failed, left],
    }


def _four(runs: Mapping[str, int]) -> list[int]:
    left = runs["left"] if "left" in runs else runs["waiting"] + runs["running"]
    return [runs["total"], runs["done"], runs["diverged"] + runs["failed"], left]


def _sums(arms: Mapping[str, Mapping[str, int]]) -> list[int]:
    return [sum(numbers) for numbers in zip(*map(_four, arms.values()), strict=True)]


def test_everything_that_counts_runs_counts_alike(setsweep: Any, study: Study) -> None:
    """Of ten trainings three fail; those of cross_entropy count in two arms."""
    _go_on(study, 10)
    begun = _states(setsweep, study)
    assert len({tuple(numbers) for numbers in begun.values()}) == 1, begun
    total, done, failed, left = begun["plan"]
    assert (total, done + failed + left) == (TOTAL, TOTAL)
    assert failed >= 3
    said = setsweep("run", "raced.yaml", "--in-process")
    assert f"raced: {left} of {TOTAL} runs to train" in said.err
    ended = _states(setsweep, study)
    assert len({tuple(numbers) for numbers in ended.values()}) == 1, ended
    assert ended["plan"] == [TOTAL, done + left, failed, 0]
    assert f"Complete. {TOTAL} runs: {done + left} done, {failed} diverged or failed." in said.out
    again = setsweep("run", "raced.yaml")
    assert f"All {TOTAL} runs of raced have ended: {done + left} done, {failed} diverged or failed." in again.err


def test_the_screen_ends_with_the_means_that_the_report_has(setsweep: Any, study: Study) -> None:
    _go_on(study, TOTAL)
    assert len(Journal(FOLDER, read_only=True).results) == TOTAL - 3  # cross_entropy is trained once for two arms
    report = json.loads(setsweep("report", "raced", "--format", "json").out)
    planner = stored_planner(study, FOLDER)
    [search] = report["searches"]
    assert planner.best("avgk")[0].searched == search["mean"]
    confirmed = {
        each["arm"]: each["mean"]
        for each in report["aggregates"]
        if (each["stage"], each["metric"]) == ("confirm", "test/avg2_accuracy")
    }
    assert {arm: planner.best(arm)[0].confirmed for arm in study.arms} == pytest.approx(confirmed)
