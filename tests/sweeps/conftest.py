"""A small study with its results, as the planner and the executor would give them to the records; MLflow on SQLite in a
folder of its own, and what is in it; the command line, as a user sees it."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Point, Search, Study
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.config.run_result import RunResult

Pair = tuple[PlannedRun, RunResult]
Snapshot = dict[tuple[str, str], dict[str, Any]]

CREATE = "import sys, mlflow; mlflow.MlflowClient(sys.argv[1]).search_experiments()"

SMALL = """\
study: small
data: {name: digits}
model: {name: mlp, hidden: 16}
training: {epochs: 2, batch_size: 256}
k: [1, 2]
arms:
  cross_entropy: {}
  avgk: {alpha: {log_uniform: [0.1, 10]}}
search: {trials: 3, seeds: 1}
confirm: {seeds: 2, default: false}
compare: {baseline: cross_entropy}
"""


@pytest.fixture
def study() -> Study:
    """Two arms at two grid points, no search."""
    return Study(
        name="which-loss",
        about="Which loss gives the best pairs?",
        data={"name": "digits"},
        model={"name": "linear"},
        training={"epochs": 3},
        k=(2,),
        arms={name: Arm(name=name, loss=name) for name in ("cross_entropy", "focal")},
        grid={"data.label_noise": (0.0, 0.2)},
        compare=Compare(baseline="cross_entropy", metrics=("test/top2_accuracy",)),
        given={"study": "which-loss"},
    )


@pytest.fixture
def make_pair() -> Callable[..., Pair]:
    """Calls give a run and a result that depends on arm, noise and seed alone."""
    return _pair


@pytest.fixture
def groups(study: Study) -> list[list[Pair]]:
    """All results of `study`, three seeds a configuration."""
    return [
        [_pair(arm, noise, seed) for seed in (10, 11, 12)]
        for arm in study.arms
        for noise in study.grid["data.label_noise"]
    ]


def _pair(arm: str, noise: float, seed: int, *, status: str = "done", epochs: int = 3) -> Pair:
    config = RunConfig(
        data={"name": "digits", "label_noise": noise},
        model={"name": "linear"},
        loss={"name": arm},
        training=Training(epochs=epochs),
        k=(2,),
        seed=seed,
    )
    params = {"gamma": 2.0} if arm == "focal" else {}
    candidate = Candidate(arm=arm, point={"data.label_noise": noise}, params=params, stage="confirm", trial=None)
    planned = PlannedRun(candidate=candidate, config=config)
    draw = random.Random(config.key)
    started = 1_700_000_000.0 + draw.randrange(1000)
    curves = {name: tuple(draw.random() for _ in range(epochs)) for name in ("train/loss", "val/top2_accuracy")}
    best = {"val/top2_accuracy": max(curves["val/top2_accuracy"]), "test/top2_accuracy": draw.random()}
    result = RunResult(
        key=config.key,
        status=status,  # type: ignore[arg-type]
        reason=None if status == "done" else "training loss must be finite, got nan in epoch 2.",
        metrics=best if status == "done" else {},
        epochs=tuple(range(1, epochs + 1)),
        curves=curves,
        started=started,
        finished=started + 2.5,
        host="here",
    )
    return planned, result


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as MLflow creates it, which takes seconds: once for all tests."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    subprocess.run([sys.executable, "-c", CREATE, f"sqlite:///{path}"], check=True, capture_output=True)
    return path


@pytest.fixture
def folder(tmp_path: Path, empty_database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test, with MLflow's default database in it."""
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return tmp_path


OF_A_PROCESS = ("mlflow.parentRunId", "mlflow.setsweep.session")  # tags that another one has otherwise


@pytest.fixture(scope="session")
def snapshot() -> Callable[[Path], Snapshot]:
    """Calls read all that a database holds, with MLflow's random ids replaced by level and run key."""
    return _snapshot


def _snapshot(folder: Path) -> Snapshot:
    database = sqlite3.connect(folder / "mlflow.db")
    tags: dict[str, dict[str, str]] = {}
    for run, key, value in database.execute("select run_uuid, key, value from tags"):
        tags.setdefault(run, {})[key] = value
    place = {run: (of_run["level"], of_run["run_key"]) for run, of_run in tags.items()}
    assert len(set(place.values())) == len(place), "a run is in MLflow twice"
    found: Snapshot = {
        place[run]: {
            "name": name,
            "status": status,
            "times": (start, end) if place[run][0] == "run" else None,
            "parent": place.get(tags[run].get("mlflow.parentRunId", "")),
            "tags": {name: value for name, value in tags[run].items() if name not in OF_A_PROCESS},
            "params": dict(database.execute("select key, value from params where run_uuid = ?", [run])),
            "rows": sorted(
                database.execute("select key, step, timestamp, value, is_nan from metrics where run_uuid = ?", [run])
            ),
            "latest": dict(database.execute("select key, value from latest_metrics where run_uuid = ?", [run])),
        }
        for run, name, status, start, end in database.execute(
            "select run_uuid, name, status, start_time, end_time from runs"
        )
    }
    database.close()
    return found


@dataclass(frozen=True)
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def small(folder: Path) -> Path:
    """The file of a study of seven runs which trains in a second, in the current folder."""
    path = folder / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def setsweep(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """Calls run a command of the command line in this process, in a wide terminal."""
    from setsweep.sweeps.cli import main

    monkeypatch.setenv("COLUMNS", "300")

    def call(*arguments: object) -> Said:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            try:
                code = main([str(argument) for argument in arguments])
            except SystemExit as exit_:  # argparse's own
                code = int(exit_.code or 0)
        return Said(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def spawn(folder: Path) -> Callable[..., subprocess.Popen[str]]:
    """Calls start a command in a process of its own, in the current folder and in a session of its own."""

    def start(*arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "setsweep.sweeps", *map(str, arguments)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "300"},
            start_new_session=True,
        )

    return start


# Studies with made-up results: what a finished study looks like, without training anything.

MadeUp = tuple[PlannedRun, RunResult | None]
Outcome = Callable[[PlannedRun], RunResult | None]

CONFIRM_SEEDS = (100, 101, 102, 103, 104)
SEARCH_SEEDS = (0, 1)


def _make_study(**changes: Any) -> Study:
    alpha = Space(kind="log_uniform", low=0.1, high=10, default=1.0)
    settings: dict[str, Any] = {
        "name": "fashion_losses",
        "about": "Which loss gives the best pairs?",
        "data": {"name": "fashion_mnist"},
        "model": {"name": "small_cnn"},
        "training": {"epochs": 10},
        "k": (2, 3),
        "arms": {
            "cross_entropy": Arm(name="cross_entropy", loss="cross_entropy"),
            "avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": alpha}),
            "noised": Arm(name="noised", loss="noised_topk_hinge", fixed={"loss.num_samples": 3}),
        },
        "grid": {"data.label_noise": (0.0, 0.2)},
        "search": Search(trials=4, objective="val/avg2_accuracy", seeds=SEARCH_SEEDS),
        "confirm_seeds": CONFIRM_SEEDS,
        "compare": Compare(baseline="cross_entropy"),
    }
    return Study(**{**settings, **changes})


def _plan(study: Study) -> list[PlannedRun]:
    """Every run of the study, as if the search had drawn evenly and chosen its second trial."""
    runs = []
    for point in study.points():
        for arm in study.arms.values():
            trials = [_params(arm, trial) for trial in range(study.search.trials if study.search else 1)]
            if study.search and arm.searched:
                for trial, params in enumerate(trials):
                    runs += [_make_run(arm, point, params, seed, trial) for seed in study.search.seeds]
            chosen = trials[1 if len(trials) > 1 else 0]
            runs += [_make_run(arm, point, chosen, seed) for seed in study.confirm_seeds]
    return runs


def _make_run(arm: Arm, point: Point, params: dict[str, Any], seed: int, trial: int | None = None) -> PlannedRun:
    config = RunConfig(
        data={"name": "fashion_mnist", "point": str(point)},
        model={"name": "small_cnn"},
        loss={"name": arm.loss, "arm": arm.name, **params},
        training=Training(),
        k=(2, 3),
        seed=seed,
        test=trial is None,
    )
    stage: Any = "confirm" if trial is None else "search"
    candidate = Candidate(arm=arm.name, point=point, params=params, stage=stage, trial=trial)
    return PlannedRun(candidate=candidate, config=config)


def _params(arm: Arm, trial: int) -> dict[str, Any]:
    fixed = {path.removeprefix("loss."): value for path, value in arm.fixed.items()}
    return {**fixed, **{path.removeprefix("loss."): 0.1 * 4**trial for path in arm.searched}}


def _finished(run: PlannedRun) -> RunResult:
    """A plausible result that the run alone decides: arms differ, noise on the labels costs, seeds scatter."""
    scatter = random.Random(run.seed)
    own = random.Random(run.key)
    strength = {"cross_entropy": 0.0, "avgk": 0.02}.get(run.arm, 0.004)
    noise = next((value for value in run.point.values() if isinstance(value, float)), 0.0)
    level = 0.93 + strength - 0.2 * noise + scatter.gauss(0, 0.004) + own.gauss(0, 0.001)
    splits = ("val",) if run.stage == "search" else ("val", "test")
    metrics = {}
    for split in splits:
        for k in (2, 3):
            base = level + 0.01 * (k - 2)
            metrics |= {
                f"{split}/top{k}_accuracy": base,
                f"{split}/macro_top{k}_accuracy": base,
                f"{split}/avg{k}_accuracy": base + 0.005,
                f"{split}/avg{k}_set_size": k + own.gauss(0, 0.01),
            }
    curve = tuple(level - 0.1 / epoch for epoch in (1, 2, 3))
    return RunResult(key=run.key, status="done", metrics=metrics, epochs=(1, 2, 3), curves={"val/top2_accuracy": curve})


def _failed(run: PlannedRun, reason: str = "the loss is not finite") -> RunResult:
    return RunResult(key=run.key, status="diverged", reason=reason)


def _results(study: Study, outcome: Outcome = _finished) -> list[MadeUp]:
    return [(run, outcome(run)) for run in _plan(study)]


@pytest.fixture
def make_study() -> Callable[..., Study]:
    """Makes a study of three arms on two points, one of them searched; keyword arguments replace its fields."""
    return _make_study


@pytest.fixture
def finished() -> Outcome:
    """The result of a run that went well, decided by the run alone."""
    return _finished


@pytest.fixture
def failed() -> Callable[..., RunResult]:
    """The result of a run that diverged, with a reason."""
    return _failed


@pytest.fixture
def results() -> Callable[..., list[MadeUp]]:
    """All runs of a study with their results, or with those that a given function makes of the run."""
    return _results
