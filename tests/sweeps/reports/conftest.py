"""Studies with made-up results: what a finished study looks like, without training anything."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from sweeps.planning.planned_run import PlannedRun
from sweeps.planning.space import Space
from sweeps.planning.study import Arm, Compare, Point, Search, Study
from trainables.run_config import RunConfig, RunResult, Training

Pair = tuple[PlannedRun, RunResult | None]
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
    return PlannedRun(arm=arm.name, point=point, params=params, stage=stage, trial=trial, config=config)


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


def _results(study: Study, outcome: Outcome = _finished) -> list[Pair]:
    return [(run, outcome(run)) for run in _plan(study)]


@pytest.fixture
def make_study() -> Callable[..., Study]:
    """Makes a study of three arms on two points, one of them searched; keyword arguments replace its fields."""
    return _make_study


@pytest.fixture
def study() -> Study:
    return _make_study()


@pytest.fixture
def finished() -> Outcome:
    """The result of a run that went well, decided by the run alone."""
    return _finished


@pytest.fixture
def failed() -> Callable[..., RunResult]:
    """The result of a run that diverged, with a reason."""
    return _failed


@pytest.fixture
def results() -> Callable[..., list[Pair]]:
    """All runs of a study with their results, or with those that a given function makes of the run."""
    return _results
