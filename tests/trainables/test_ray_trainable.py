"""Runs as trials of a real Tuner: schedulers stop, pause, kill, clone and perturb them, and the numbers stay right."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
import torch
from ray import tune
from ray.tune.schedulers import ASHAScheduler, FIFOScheduler, PopulationBasedTraining, TrialScheduler

from setsweep.trainables.config.complete import complete_config, with_values
from setsweep.trainables.loop import train
from setsweep.trainables.ray_trainable import trainable

REPOSITORY = Path(__file__).parents[2]
BASE: dict[str, Any] = {
    "data": {"name": "digits", "label_noise": 0.1},
    "model": {"name": "mlp", "hidden": 16},
    "loss": {"name": "avgk"},
    "training": {"epochs": 4, "batch_size": 64, "optimizer": {"lr": 0.1, "momentum": 0.9}},
    "k": [2],
}
METRIC = {"metric": "val/avg2_accuracy", "mode": "max"}

pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A cluster on this machine, with two CPUs whatever it has."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def fit(folder: Path, space: dict[str, Any], base: dict[str, Any] = BASE, **tuning: Any) -> tune.ResultGrid:
    """What a Tuner finds that trains one trial at a time, all in one actor."""
    checkpoints = tune.CheckpointConfig(checkpoint_frequency=1)
    failures = tune.FailureConfig(max_failures=tuning.pop("max_failures", 0))
    return tune.Tuner(
        trainable(base),
        param_space=space,
        tune_config=tune.TuneConfig(**{"max_concurrent_trials": 1, "reuse_actors": True, **METRIC, **tuning}),
        run_config=tune.RunConfig(
            storage_path=str(folder),
            checkpoint_config=checkpoints,
            failure_config=failures,
            stop={"training_iteration": 8},  # none has so many; one that never came to its end would run for ever
            verbose=0,
        ),
    ).fit()


def trained(values: dict[str, Any], base: dict[str, Any] = BASE) -> dict[str, float]:
    """The metrics that `train` gives."""
    return dict(train(complete_config(with_values({"test": False, **base}, values))).metrics)


def of_run(result: tune.Result) -> dict[str, float]:
    """The metrics of ours in a report of Tune's."""
    return {name: value for name, value in result.metrics.items() if name.startswith(("train/", "val/", "test/"))}


def with_value(results: tune.ResultGrid, path: str, value: Any) -> tune.Result:
    """The result of the trial that was given this value."""
    [result] = [result for result in results if result.config[path] == value]
    return result


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """What is trained here is trained with as many threads as a trial has, whose sums are then the same."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Notes(FIFOScheduler):
    """Notes what trials report, but for the last report of each."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[dict[str, Any]] = []

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        self.reports.append(result)
        return TrialScheduler.CONTINUE


@pytest.fixture(scope="module")
def notes() -> Notes:
    """Of the trials of `results`."""
    return Notes()


@pytest.fixture(scope="module")
def results(cluster: None, notes: Notes, tmp_path_factory: pytest.TempPathFactory) -> tune.ResultGrid:
    """Trials one after the other: two that train, one that diverges, one more."""
    space = {"training.optimizer.lr": tune.grid_search([0.1, 0.2, 1e30, 0.05]), "loss.alpha": 2.0, "seed": 5}
    return fit(tmp_path_factory.mktemp("results"), space, scheduler=notes)


@pytest.mark.parametrize("lr", [0.1, 0.2, 0.05])
def test_the_last_report_of_a_trial_is_the_result_of_train_to_the_last_bit(results: tune.ResultGrid, lr: float) -> None:
    result = with_value(results, "training.optimizer.lr", lr)
    assert of_run(result) == trained({"training.optimizer.lr": lr, "loss.alpha": 2.0, "seed": 5})
    assert (result.metrics["training_iteration"], result.metrics["epoch"], result.metrics["status"]) == (4, 4, "done")
    assert not any(name.startswith("test/") for name in result.metrics)  # a search does not look there


def test_every_evaluation_is_reported(results: tune.ResultGrid, notes: Notes) -> None:
    values = {"training.optimizer.lr": 0.2, "loss.alpha": 2.0, "seed": 5}
    curves = train(complete_config(with_values({"test": False, **BASE}, values))).curves
    trial = with_value(results, "training.optimizer.lr", 0.2).metrics["trial_id"]
    reports = [report for report in notes.reports if report["trial_id"] == trial]
    assert [(report["epoch"], report["training_iteration"]) for report in reports] == [(1, 1), (2, 2), (3, 3)]
    for name, curve in curves.items():
        assert tuple(report[name] for report in reports) == curve[:3]


def test_one_actor_serves_trial_after_trial(results: tune.ResultGrid) -> None:
    # and gives each what `train` gives it, as the tests before say: nothing is left of the trial before
    assert len({result.metrics["pid"] for result in results}) == 1
    assert len(results) == 4


def test_a_diverged_trial_ends_without_nan_and_is_never_the_best(results: tune.ResultGrid) -> None:
    diverged = with_value(results, "training.optimizer.lr", 1e30)
    assert diverged.error is None
    assert (diverged.metrics["status"], diverged.metrics["done"]) == ("diverged", True)
    assert diverged.metrics["reason"].startswith("training loss must be finite, got ")
    assert diverged.metrics["epoch"] < 4
    numbers = of_run(diverged)
    assert not any(math.isnan(value) for value in numbers.values())
    for metric, mode, worst in (("val/avg2_accuracy", "max", min), ("train/loss", "min", max)):
        assert results.get_best_result(metric, mode).config["training.optimizer.lr"] != 1e30
        others = [of_run(result)[metric] for result in results if result is not diverged]
        assert numbers[metric] not in others
        assert numbers[metric] == worst([numbers[metric], *others])


@pytest.mark.usefixtures("cluster")
def test_successive_halving_stops_the_trials_that_are_behind_and_an_illegal_one_fails_alone(tmp_path: Path) -> None:
    scheduler = ASHAScheduler(max_t=4, grace_period=1, reduction_factor=2)
    rates = tune.grid_search([0.1, 1e-6, 1e-7, 1e30, -1])
    results = fit(tmp_path, {"training.optimizer.lr": rates}, scheduler=scheduler)
    *legal, illegal = results
    assert [result.metrics["training_iteration"] for result in legal] == [4, 1, 1, 1]
    assert results.get_best_result().config == {"training.optimizer.lr": 0.1}
    assert results.errors == [illegal.error]
    assert "training.optimizer.lr must be > 0, got -1." in str(illegal.error)


def test_illegal_values_are_refused_at_setup_with_the_rules_that_they_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # outside a Tuner, Ray's class makes itself a folder in the home folder
    monkeypatch.setattr("ray.tune.trainable.trainable.DEFAULT_STORAGE_PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"^los: unknown field 'los'\. Did you mean 'loss'\?") as caught:
        trainable(BASE)({"los.alpha": 1, "training.batch_size": 0})
    assert str(caught.value).splitlines()[1:] == ["training.batch_size must be >= 1 or full, got 0."]


class Pauses(FIFOScheduler):
    """Pauses every trial after every report, so that trials take turns: each step begins with a restore."""

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        return TrialScheduler.PAUSE

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        waiting = [trial for trial in tune_controller.get_trials() if trial.status in ("PENDING", "PAUSED")]
        ready = [trial for trial in waiting if not trial.is_saving]
        return min(ready, key=lambda trial: trial.last_result.get("training_iteration", 0), default=None)


@pytest.mark.usefixtures("cluster")
def test_trials_paused_after_each_report_end_as_uninterrupted_ones(tmp_path: Path) -> None:
    base = {**BASE, "test": True}  # so that the weights of the best epochs are part of what is restored
    results = fit(tmp_path, {"seed": tune.grid_search([1, 2])}, base, scheduler=Pauses())
    assert not results.errors
    for seed in (1, 2):
        result = with_value(results, "seed", seed)
        assert of_run(result) == trained({"seed": seed}, base)
        assert "test/avg2_accuracy" in result.metrics
        assert result.metrics["iterations_since_restore"] == 1
        assert result.metrics["training_iteration"] == 4


class Kills(FIFOScheduler):
    """Kills the process of a trial at its third report, once."""

    def __init__(self) -> None:
        super().__init__()
        self.killed: list[int] = []

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        if result["training_iteration"] == 3 and not self.killed:
            self.killed.append(result["pid"])
            os.kill(result["pid"], signal.SIGKILL)
        return TrialScheduler.CONTINUE


@pytest.mark.usefixtures("cluster")
def test_a_trial_whose_process_is_killed_ends_as_an_uninterrupted_one(tmp_path: Path) -> None:
    scheduler = Kills()
    results = fit(tmp_path, {"seed": 6}, scheduler=scheduler, max_failures=1)
    assert of_run(results[0]) == trained({"seed": 6})
    assert results[0].metrics["pid"] not in scheduler.killed != []
    assert 0 < results[0].metrics["iterations_since_restore"] < 4


@pytest.mark.usefixtures("cluster")
def test_population_based_training_perturbs_learning_rates_in_the_middle_of_runs(tmp_path: Path) -> None:
    # the trial with the tiny rate is the worst at every turn, so that it goes on from the other's checkpoint
    clones: list[dict[str, Any]] = []

    class Noted(PopulationBasedTraining):
        def _exploit(self, tune_controller: Any, trial: Any, trial_to_clone: Any) -> None:
            super()._exploit(tune_controller, trial, trial_to_clone)
            clones.append(dict(trial.config))

    scheduler = Noted(
        time_attr="training_iteration",
        perturbation_interval=2,
        hyperparam_mutations={"training.optimizer.lr": tune.loguniform(0.05, 0.5), "training.batch_size": [32, 64]},
        resample_probability=0.0,
        quantile_fraction=0.5,
        synch=True,
    )
    space = {"training.optimizer.lr": tune.grid_search([1e-6, 0.1]), "training.batch_size": 64}
    results = fit(tmp_path, space, scheduler=scheduler, max_concurrent_trials=2)
    assert not results.errors
    assert clones
    assert all(clone["training.optimizer.lr"] in (pytest.approx(0.08), pytest.approx(0.12)) for clone in clones)
    for result in results:
        assert result.metrics["status"] == "done"
        assert result.metrics["training_iteration"] == result.metrics["epoch"] == 4
        # alone, the tiny rate would be where it began, with 2 of 10 classes right by chance
        assert result.metrics["val/avg2_accuracy"] > 0.8
    assert trained({"training.optimizer.lr": 1e-6})["val/avg2_accuracy"] < 0.5


def readme_example() -> str:
    """The Python of the section on Tuners."""
    _, _, section = (REPOSITORY / "trainables" / "README.md").read_text().partition("## In your own Tuner\n")
    _, _, code = section.partition("```python\n")
    return code.partition("```")[0]


def test_the_example_of_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    code = readme_example()
    assert 0 < len(code.splitlines()) <= 15
    environment = {**os.environ, "HOME": str(tmp_path), "RAY_ADDRESS": "local"}  # Tune's results go to the home folder
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    best = done.stdout.splitlines()[-1]
    assert "loss.alpha" in best
    assert list((tmp_path / "ray_results").iterdir())
