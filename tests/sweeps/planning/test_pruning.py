"""Trials that are behind are stopped: by Optuna's rules, from finished batches alone, and never chosen."""

from __future__ import annotations

import random
from typing import Any

import optuna
import pytest
from optuna.pruners import BasePruner, MedianPruner, SuccessiveHalvingPruner
from optuna.trial import TrialState, create_trial

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.sweeps.planning.choice import best_first, stopped_trials
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.pruning import Ended, bounds, ended
from setsweep.sweeps.planning.seed_groups import SeedGroups, Train
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.sensitivity.tried import searched as tried
from setsweep.sweeps.study.parts import Confirm, Resources
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Pruner, Search, Study
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult

METRIC = "val/avg2_accuracy"
EPOCHS = 9
ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)


def _study(pruner: Pruner | None, *, seeds: tuple[int, ...] = (1000, 1001), keep: str = "best") -> Study:
    return Study(
        name="which-loss",
        data={"name": "digits"},
        model={"name": "linear"},
        training={"epochs": EPOCHS, "keep": keep},
        k=(2,),
        arms={"avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": ALPHA})},
        search=Search(trials=20, sampler="tpe", objective=METRIC, seeds=seeds, pruner=pruner),
        confirm_seeds=(0, 1),
        confirm=Confirm(default=False),
    )


def _curve(config: RunConfig) -> list[float]:
    """What the configuration alone decides but for its bounds: an approach to its best value, with noise."""
    draw = random.Random(f"{config.loss['alpha']} {config.seed}")
    best = 0.9 - 0.05 * abs(config.loss["alpha"] - 2)
    return [max(best - 0.5 / epoch + draw.gauss(0, 0.02), 0.0) for epoch in range(1, EPOCHS + 1)]


class Cluster:
    """Trains seed groups as the trainer does: all seeds in step, up to the epoch at which they are behind."""

    def __init__(self, study: Study, known: dict[str, RunResult] | None = None, *, slots: int, seed: int = 0) -> None:
        self.planner = Planner(study, known)
        self._executor = SimulatedExecutor(self._outcome, slots=slots, seed=seed, weather=Weather(loss_rate=0.1))
        self._groups = SeedGroups(self.planner, Resources(), {}, lambda name, seeds: None)
        self._of: dict[str, list[RunConfig]] = {}
        self.trained: list[str] = []

    def _outcome(self, config: RunConfig) -> RunResult:
        together, keep = self._of[config.key], config.training.keep
        curves = {each.seed: _curve(each) for each in together}
        last = EPOCHS
        for epoch in range(1, EPOCHS) if config.stopping else ():
            known = {seed: values[:epoch] for seed, values in curves.items()}
            values = {seed: max(given) if keep == "best" else given[-1] for seed, given in known.items()}
            if config.stopping is not None and config.stopping.stops(epoch, values):
                last = epoch
                break
        own = curves[config.seed][:last]
        metrics = {METRIC: max(own) if keep == "best" else own[-1]}
        return RunResult(
            key=config.key,
            status="done",
            metrics=metrics | ({"test/avg2_accuracy": own[-1], "test/top2_accuracy": own[-1]} if config.test else {}),
            epochs=tuple(range(1, last + 1)),
            curves={METRIC: tuple(own)},
            pruned=last if last < EPOCHS else None,
        )

    def play(self, most: int = 10**9) -> Planner:
        open_: set[str] = set()
        while True:
            while len(open_) < 5 and isinstance(work := self._groups.next(), Train):
                configs = tuple(run.config for run in work.runs)
                for config in configs:
                    self._of[config.key] = list(configs)
                job = Job(configs=configs)
                self._executor.submit(job)
                open_.add(job.key)
            if not open_ and isinstance(work, Done | Wait):
                return self.planner
            for result in self._executor.wait(1.0):
                assert isinstance(result, RunResult)
                self.trained.append(result.key)
                self.planner.tell(result)
                open_ = {key for key in open_ if key not in (result.key, _job_of(self._of[result.key]))}
                if len(self.trained) >= most and not _half_a_job(self.trained, self._of):
                    return self.planner


def _job_of(configs: list[RunConfig]) -> str:
    return Job(configs=tuple(configs)).key


def _half_a_job(trained: list[str], of: dict[str, list[RunConfig]]) -> bool:
    return any(each.key not in trained for key in trained for each in of[key])


MEDIAN = Pruner(name="median", startup=4)
HALVING = Pruner(name="successive_halving", startup=4)


@pytest.mark.parametrize("pruner", [MEDIAN, HALVING])
@pytest.mark.parametrize("keep", ["best", "last"])
def test_the_table_is_the_same_on_one_slot_on_sixteen_and_after_an_interruption(pruner: Pruner, keep: str) -> None:
    study = _study(pruner, keep=keep)
    reports = []
    for slots, seed in ((1, 0), (16, 1), (3, 2)):
        planner = Cluster(study, slots=slots, seed=seed).play()
        reports.append(render(build_report(study, planner.runs()), "json"))
    first = Cluster(study, slots=5, seed=3).play(most=14)
    again = Cluster(study, dict(first.results), slots=2, seed=4)
    reports.append(render(build_report(study, again.play().runs()), "json"))
    assert not set(first.results) & set(again.trained), "nothing is trained twice"
    assert len(set(reports)) == 1
    assert stopped_trials(planner.runs()), "or else nothing is shown"


@pytest.mark.parametrize("pruner", [MEDIAN, HALVING])
@pytest.mark.parametrize("keep", ["best", "last"])
def test_no_trial_of_the_first_batches_is_stopped_and_none_that_is_stopped_is_chosen(pruner: Pruner, keep: str) -> None:
    planner = Cluster(_study(pruner, keep=keep), slots=4).play()
    stopped = stopped_trials(planner.runs())
    assert min(stopped) >= pruner.startup
    assert all(1 <= epoch < EPOCHS for epoch in stopped.values())
    confirmed = {run.config.loss["alpha"] for run, _ in planner.runs() if run.stage == "confirm"}
    given_up = {run.config.loss["alpha"] for run, _ in planner.runs() if run.trial in stopped}
    assert not confirmed & given_up
    counts = planner.counts()
    assert counts.failed == counts.diverged == 0
    assert counts.done == counts.total


def test_what_is_stopped_is_told_in_the_report() -> None:
    study = _study(MEDIAN, seeds=(1000,))
    planner = Cluster(study, slots=4).play()
    report = build_report(study, planner.runs())
    (searched,) = report.searches
    stopped = stopped_trials(planner.runs())
    assert searched.stopped == stopped
    # each stopped trial has saved the epochs after it, of 20 trials of 9 epochs
    assert searched.saved == pytest.approx(sum(EPOCHS - epoch for epoch in stopped.values()) / (20 * EPOCHS))
    (found,) = tried(report)
    assert len(found.configurations) == 20 - len(stopped), "scores of fewer epochs say nothing of hyperparameters"
    text = render(report, "markdown")
    assert f"avgk: {len(stopped)} of 20 trials were stopped after epochs " in text
    assert "none can be chosen." in text
    assert f"20, {len(stopped)} stopped" in text


def test_runs_with_bounds_have_keys_of_their_own_and_seeds_of_a_trial_train_together() -> None:
    study = _study(MEDIAN)
    cluster = Cluster(study, slots=4)
    searched = [run for run, _ in cluster.play().runs() if run.stage == "search"]
    plain = {run.key for run, _ in Cluster(_study(None), slots=4).play().runs() if run.stage == "search"}
    assert {run.key for run in searched[:8]} <= plain
    with_bounds = [run for run in searched if run.config.stopping]
    assert not {run.key for run in with_bounds} & plain
    assert all(len(cluster._of[run.key]) == 2 for run in with_bounds)
    again = RunConfig.from_dict(with_bounds[0].config.to_dict())
    assert again.key == with_bounds[0].key
    assert again.with_seed(5).stopping == again.stopping


def test_stopped_trials_come_last_whatever_their_values() -> None:
    assert best_first({0: 0.5, 1: 0.9, 2: 0.7, 3: 0.9}, {1: 2}) == [3, 2, 0, 1]


def test_a_trial_with_a_run_without_a_number_bounds_none(make_pair: Any) -> None:
    run, result = make_pair("focal", 0.0, 0)
    failed = RunResult(key=run.key, status="diverged", reason="nan")
    assert ended([(run, failed)], "val/top2_accuracy") is None
    assert ended([(run, result), (run, failed)], "val/top2_accuracy") is None


def _optunas(pruner: BasePruner, trials: list[Ended], own: dict[int, float]) -> int | None:
    """After which epoch Optuna's pruner stops a trial with these values."""
    study = optuna.create_study(direction="maximize", pruner=pruner)
    for trial in trials:
        rungs = ((rung, 3**rung) for rung in range(EPOCHS))  # that Optuna writes down as a trial passes them
        study.add_trial(
            create_trial(
                state=TrialState.PRUNED if trial.stopped else TrialState.COMPLETE,
                value=None if trial.stopped else max(trial.curve.values()),
                intermediate_values=dict(trial.curve),
                system_attrs={f"completed_rung_{rung}": trial.curve[at] for rung, at in rungs if at in trial.curve},
            )
        )
    running = study.ask()
    for epoch, value in own.items():
        running.report(value, epoch)
        if epoch < EPOCHS and running.should_prune():
            return epoch
    return None


@pytest.mark.parametrize("name", ["median", "successive_halving"])
def test_the_bounds_stop_a_trial_where_optunas_pruner_does(name: str) -> None:
    """Random curves, their values so far; 300 comparisons, some of each outcome."""
    draw = random.Random(0)
    outcomes = set()
    for _ in range(300):
        trials = [_random_trial(draw) for _ in range(draw.randint(4, 9))]
        own = _random_trial(draw).curve
        whole = (
            dict(own)
            if len(own) == EPOCHS
            else {epoch: own.get(epoch, max(own.values())) for epoch in range(1, EPOCHS + 1)}
        )
        rule = Pruner(name=name, startup=1, warmup=1 if name == "successive_halving" else 2)  # type: ignore[arg-type]
        found = dict(bounds(rule, trials))
        ours = next((e for e in whole if e < EPOCHS and e in found and whole[e] < found[e]), None)
        theirs = _optunas(
            MedianPruner(n_startup_trials=1, n_warmup_steps=2)
            if name == "median"
            else SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
            trials,
            whole,
        )
        if any(not trial.stopped for trial in trials):
            assert ours == theirs
            outcomes.add(ours)
    assert None in outcomes
    assert len(outcomes) > 2


def _random_trial(draw: random.Random) -> Ended:
    stopped = draw.random() < 0.3
    best, curve = 0.0, {}
    for epoch in range(1, (draw.randint(2, EPOCHS - 1) if stopped else EPOCHS) + 1):
        best = max(best, draw.random() * epoch / EPOCHS)
        curve[epoch] = best
    return Ended(curve, stopped)
