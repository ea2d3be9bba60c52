"""Whole searches: ours as the planner runs them, Optuna's as its users run them, and what ours were before.

Each gives the true mean of the configuration that it chooses on a landscape, of which a repetition draws its own seeds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from landscapes import Landscape

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.trainables.config.run_result import RunResult

SEEDS = 24  # that a search may use
PATHS = ("training.gamma", "training.ema")  # two settings whose ranges are the unit interval
METRIC = "val/avg2_accuracy"

Play = Callable[[Landscape, int], float]


class World:
    """What the runs of one repetition give: each point's noise is drawn when it is first looked at, seeds in common."""

    def __init__(self, landscape: Landscape, repetition: int) -> None:
        self._landscape, self._repetition = landscape, repetition
        self._known: dict[tuple[float, ...], np.ndarray[Any, Any]] = {}

    def value(self, point: tuple[float, ...], seed: int) -> float:
        """What a run gives."""
        if point not in self._known:
            at = np.array([point])
            draw = np.random.default_rng([self._repetition, hash(point) % 2**32])
            shared = np.random.default_rng([self._repetition])
            own = self._landscape.noise(_Both(shared, draw), at, SEEDS)[0]  # type: ignore[arg-type]
            self._known[point] = self.mean(point) + own
        return float(self._known[point][seed])

    def mean(self, point: tuple[float, ...]) -> float:
        """What it gives on average."""
        return float(self._landscape.mean(np.array([point]))[0])


class _Both:
    """A generator whose first draws (the seeds' part) are the same for all points, and the rest a point's own."""

    def __init__(self, shared: np.random.Generator, own: np.random.Generator) -> None:
        self._generators = [shared, own]

    def _next(self) -> np.random.Generator:
        return self._generators.pop(0) if len(self._generators) > 1 else self._generators[0]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._next(), name)


def ours(trials: int, *, seeds: int = 1, race: int | None = None, least: int = 6, sampler: str = "auto") -> Play:
    """Our planner."""

    def play(landscape: Landscape, repetition: int) -> float:
        world = World(landscape, repetition)
        paths = PATHS[: landscape.dimensions]
        spaces = {path: Space(kind="uniform", low=0.001, high=0.999, default=0.5) for path in paths}
        arm = Arm(name="arm", loss="cross_entropy", searched=spaces)
        study = Study(
            name=f"repetition-{repetition}",
            data={"name": "digits"},
            model={"name": "linear"},
            training={},
            k=(2,),
            arms={"arm": arm},
            search=Search(
                trials=trials,
                sampler=sampler,  # type: ignore[arg-type]
                objective=METRIC,
                seeds=tuple(range(1000, 1000 + seeds)),
                race=race,
                least=least,
            ),
            confirm_seeds=(0,),
        )
        planner = Planner(study)
        while isinstance(run := planner.next_run(), PlannedRun):
            point = tuple(float(run.params[path]) for path in paths)
            value = world.value(point, run.seed - 1000) if run.stage == "search" else 0.0
            planner.tell(RunResult(key=run.key, status="done", metrics={METRIC: value}))
        [chosen] = [run for run, _ in planner.runs() if run.stage == "confirm"]
        return world.mean(tuple(float(chosen.params[path]) for path in paths))

    return play


def optunas(sampler: str, trials: int, *, seeds: int, batch: int = 1, start: int | None = None) -> Play:
    """Optuna, the mean over the seeds told; in batches, from the default on: ours of before."""

    def play(landscape: Landscape, repetition: int) -> float:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        world = World(landscape, repetition)
        options: dict[str, Any] = {} if start is None else {"n_startup_trials": start}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if sampler == "gp":
                own: Any = optuna.samplers.GPSampler(seed=repetition, **options)
            else:
                several = {"multivariate": True, "constant_liar": True} if batch > 1 else {}
                own = optuna.samplers.TPESampler(seed=repetition, **several, **options)
            study = optuna.create_study(direction="maximize", sampler=own)
            if batch > 1:
                study.enqueue_trial({str(i): 0.5 for i in range(landscape.dimensions)})
            for first in range(0, trials, batch):
                asked = [study.ask() for _ in range(min(batch, trials - first))]
                points = [tuple(t.suggest_float(str(i), 0, 1) for i in range(landscape.dimensions)) for t in asked]
                for trial, point in zip(asked, points, strict=True):
                    study.tell(trial, float(np.mean([world.value(point, seed) for seed in range(seeds)])))
        return world.mean(tuple(study.best_params[str(i)] for i in range(landscape.dimensions)))

    return play


SEARCHES: dict[str, Play] = {
    "10 runs: before (TPE 5 x 2)": optunas("tpe", 5, seeds=2, batch=4, start=4),
    "10 runs: ours, 7 raced to 2": ours(7, race=2, least=3),
    "16 runs: before (TPE 8 x 2)": optunas("tpe", 8, seeds=2, batch=4, start=4),
    "16 runs: ours, 8 raced to 3": ours(8, race=3, least=4),
    "24 runs: before (TPE 12 x 2)": optunas("tpe", 12, seeds=2, batch=4, start=4),
    "24 runs: ours, 24 x 1": ours(24),
    "24 runs: ours, 12 raced to 3": ours(12, race=3),
    "24 runs: Optuna's TPE 12 x 2": optunas("tpe", 12, seeds=2),
    "24 runs: Optuna's GP 12 x 2": optunas("gp", 12, seeds=2),
    "48 runs: before (TPE 24 x 2)": optunas("tpe", 24, seeds=2, batch=4, start=8),
    "48 runs: ours, 18 raced to 9": ours(18, race=9),
    "48 runs: ours, 28 raced to 3": ours(28, race=3),
}
