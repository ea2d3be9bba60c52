"""A small study with its results, as the planner and the executor would give them to the records."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from sweeps.planning.planned_run import PlannedRun
from sweeps.planning.study import Arm, Compare, Study
from trainables.run_config import RunConfig, RunResult, Training

Pair = tuple[PlannedRun, RunResult]


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
        text="study: which-loss\n",
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
    planned = PlannedRun(
        arm=arm, point={"data.label_noise": noise}, params=params, stage="confirm", trial=None, config=config
    )
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
