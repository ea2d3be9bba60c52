"""What a running sweep shows."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.sweeps.sweep import progress as module
from setsweep.sweeps.sweep.progress import Progress, duration
from setsweep.trainables.config.run_result import RunResult


def _console(*, terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=200, force_terminal=terminal)


def _shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture
def planner(study: Study) -> Planner:
    return Planner(study)


def _finish(planner: Planner, progress: Progress, number: int, **result: Any) -> None:
    run, _ = planner.runs()[number]
    told = RunResult(key=run.key, **{"status": "done", **result})
    planner.tell(told)
    progress.finished(run, told)


def test_every_seed_that_trains_beside_others_is_running(study: Study, planner: Planner) -> None:
    progress = Progress(study, planner, console=_console())
    for run, _ in planner.runs()[:5]:
        progress.started(run)
    assert progress.summary() == "0 of 20 runs done, 5 running, 0 failed, 15 left"


def test_what_is_done_failed_and_left_is_counted_with_the_time_that_it_will_take(
    study: Study, planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    progress = Progress(study, planner, console=_console())
    for run, _ in planner.runs()[:3]:
        progress.started(run)
    _finish(planner, progress, 0)
    _finish(planner, progress, 1, status="failed")
    now = 110.0
    # 2 runs in 10 s, so 18 in 90 s
    assert progress.summary() == "1 of 20 runs done, 1 running, 1 failed, 17 left, about 90 s to go"
    progress.note = "MLflow: away"
    assert progress.summary().endswith(", about 90 s to go, MLflow: away")


def test_the_time_left_is_that_of_this_sweep_and_not_of_the_one_before(study: Study, planner: Planner) -> None:
    before = [RunResult(key=run.key, status="done") for run, _ in planner.runs()[:8]]
    progress = Progress(study, Planner(study, {result.key: result for result in before}), console=_console())
    assert progress.summary() == "8 of 20 runs done, 0 running, 0 failed, 12 left"


def test_before_anything_is_trained_the_time_left_is_the_expected_one(
    study: Study, planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    progress = Progress(study, planner, console=_console(), expected=60.0)
    assert progress.summary().endswith("left, about 60 s to go")
    now = 120.0
    assert progress.summary().endswith("left, about 40 s to go")
    now = 200.0
    assert progress.seconds_left() == 0.0
    progress.started(planner.runs()[0][0])
    _finish(planner, progress, 0)
    assert progress.seconds_left() == pytest.approx(19 * 100.0), "1 run in 100 s, whatever was expected"


def test_the_first_result_is_told_once_and_every_failure_with_its_reason(study: Study, planner: Planner) -> None:
    console = _console()
    progress = Progress(study, planner, console=console)
    _finish(planner, progress, 12, status="diverged", reason="training loss must be finite, got nan in epoch 2.")
    _finish(planner, progress, 0)
    _finish(planner, progress, 1)
    said = _shown(console).splitlines()
    assert said[0].startswith("diverged: ")
    assert said[0].endswith(": training loss must be finite, got nan in epoch 2.")
    assert [line.startswith("first result ") for line in said] == [False, True]


@pytest.mark.parametrize("reason", ["[enforce fail at alloc_cpu.cpp:117] err == 0", "KeyError: '[/x]'", "see [red]"])
def test_brackets_in_a_reason_are_text(study: Study, planner: Planner, reason: str) -> None:
    console = _console()
    progress = Progress(study, planner, console=console)
    _finish(planner, progress, 0, status="failed", reason=reason)
    assert _shown(console).endswith(f" seed 0: {reason}\n")


def test_a_log_gets_a_line_now_and_then(study: Study, planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    console = _console()
    with Progress(study, planner, console=console) as progress:
        progress.note = "[/x] is away"
        for now in (130.0, 131.0, 140.0, 161.5):  # noqa: B007 - what the clock says
            progress.tick()
    assert _shown(console).splitlines() == ["0 of 20 runs done, 0 running, 0 failed, 20 left, [/x] is away"] * 2


def test_a_terminal_shows_the_means_of_every_arm_so_far_and_no_lines(study: Study) -> None:
    """At the first point 0.25, 0.5 and 0.75, whose mean is 0.5; at the second 0.625 alone."""
    planner, console = Planner(study), _console(terminal=True)
    progress = Progress(study, planner, console=console)
    for number, value in ((0, 0.25), (1, 0.5), (2, 0.75)):
        _finish(planner, progress, number, metrics={"test/top2_accuracy": value, "val/top2_accuracy": 0.9})
    with progress:
        progress.tick()
    second = next(n for n, (run, _) in enumerate(planner.runs()) if run.arm == "cross_entropy" and n > 4)
    _finish(planner, progress, second, metrics={"test/top2_accuracy": 0.625})
    _finish(planner, progress, second + 1, status="diverged")
    with progress:
        progress.tick()
    rows = [line.split() for line in Text.from_ansi(_shown(console)).plain.splitlines()]
    assert ["arm", "confirmed:", "test/top2_accuracy", "done", "failed", "at"] in rows
    assert ["cross_entropy", "50.00", "%", "3", "0", "confirmation"] in rows
    assert ["cross_entropy", "50.00", "to", "62.50", "%", "4", "1", "confirmation"] in rows
    assert ["focal", "0", "0", "confirmation"] in rows
    assert not any("first" in row for row in rows[1:])


def test_the_rung_of_a_race_is_told_on_a_terminal_and_in_a_log(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    gamma = Space(kind="uniform", low=0.5, high=5.0, default=2.0)
    raced = replace(
        study,
        arms={**study.arms, "focal": Arm(name="focal", loss="focal", searched={"loss.gamma": gamma})},
        search=Search(trials=8, sampler="qmc", objective="val/top2_accuracy", seeds=(1000,), race=3, batch=8),
    )
    planner, now = Planner(raced), 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    console = _console()
    progress = Progress(raced, planner, console=console)
    assert progress.doing("focal") == "8 of 8 trials"
    for run, _ in planner.runs():
        if run.arm == "focal" and run.point == raced.points()[0]:
            planner.tell(RunResult(key=run.key, status="done", metrics={"val/top2_accuracy": 0.5}))
    assert progress.doing("focal") == "rung 2 of 2: 4 trials x 3 seeds at 1 point; 8 of 8 trials at 1 point"
    now = 131.0
    progress.tick()
    assert (
        _shown(console)
        .rstrip()
        .endswith("; focal: rung 2 of 2: 4 trials x 3 seeds at 1 point; 8 of 8 trials at 1 point")
    )
    while isinstance(run := planner.next_run(), PlannedRun):
        planner.tell(RunResult(key=run.key, status="done", metrics={"val/top2_accuracy": 0.5}))
    assert progress.doing("focal") == "done"


def _moment(run: PlannedRun, epoch: int, epochs: int) -> Moment:
    return Moment(key=run.key, epoch=epoch, epochs=epochs, metrics={"train/loss": 1.5, "val/avg2_accuracy": 0.5})


def test_epochs_of_running_runs_say_how_long_it_will_take_before_there_is_a_result(
    study: Study, planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    progress = Progress(study, planner, console=_console())
    runs = [run for run, _ in planner.runs()[:2]]
    for run in runs:
        progress.started(run)
    assert "to go" not in progress.summary()
    now = 110.0
    progress.news([_moment(runs[0], 3, 10), _moment(runs[1], 2, 10)])
    # half a run in 10 s, 19.5 of the 20 are left
    assert progress.summary() == "0 of 20 runs done, 2 running, 0 failed, 18 left, about 6 min to go"
    _finish(planner, progress, 0)
    assert progress.summary().endswith("18 left, about 3 min to go")  # 1.2 runs in 10 s, 18.8 are left: 157 s


def test_a_terminal_shows_what_running_runs_have_come_to_and_of_many_the_first(study: Study, planner: Planner) -> None:
    console = _console(terminal=True)
    progress = Progress(study, planner, console=console)
    runs = [run for run, _ in planner.runs()[:11]]
    for run in runs:
        progress.started(run)
    progress.news([_moment(run, 2, 3) for run in runs[1:]])
    with progress:
        progress.tick()
    lines = [line.strip() for line in Text.from_ansi(_shown(console)).plain.splitlines()]
    assert f"{runs[1].arm}, seed 1: epoch 2 of 3, loss 1.5, val/avg2_accuracy 50.00 %" in lines
    assert sum("epoch 2 of 3" in line for line in lines) == module.SHOWN
    assert "and 2 more" in lines


def test_a_log_shows_some_running_runs(study: Study, planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    console = _console()
    progress = Progress(study, planner, console=console)
    run, _ = planner.runs()[0]
    progress.started(run)
    progress.news([_moment(run, 1, 3)])
    now = 131.0
    progress.tick()
    assert _shown(console).splitlines()[1].strip().startswith(f"{run.arm}, seed 0: epoch 1 of 3, loss 1.5")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5999, "100 min"), (6000, "1.7 h"), (36000, "10.0 h")],
)
def test_a_duration_is_said_as_people_say_it(seconds: float, said: str) -> None:
    assert duration(seconds) == said
