"""The loop that joins planner, executor, journal and watchers, with a simulated executor in the middle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.study.parts import Compare, Keep
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.sweeps.sweep.loop import Sweep, model_criterion
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult


class Watched:
    """Remembers what it was told."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.began: list[str] = []
        self.ended: list[str] = []
        self.most = self.ticks = 0

    def started(self, run: PlannedRun) -> None:
        self.began.append(run.key)
        self.most = max(self.most, len(self.began) - len(self.ended))

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        assert self.journal.results[run.key] is result, "the journal has it first"
        self.ended.append(run.key)

    def tick(self) -> None:
        self.ticks += 1


class Kept(SimulatedExecutor):
    """Keeps the jobs that it was given."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.jobs: list[Job] = []
        self.done = self.most = 0

    def submit(self, job: Job) -> None:
        self.jobs.append(job)
        self.most = max(self.most, len(self.jobs) - self.done)
        super().submit(job)

    def wait(self, timeout: float) -> list[Any]:
        outcomes: list[Any] = super().wait(timeout)
        self.done += len(outcomes)
        return outcomes


@pytest.fixture
def searched(study: Study) -> Study:
    """The study of two arms, one of which is searched."""
    alpha = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
    arms = {**study.arms, "avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": alpha})}
    return replace(study, arms=arms, search=Search(trials=5, objective="val/avg2_accuracy", seeds=(1000,)))


@pytest.fixture
def sweep(searched: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Calls run the study into the folder ``results`` and give planner, executor and watcher."""
    monkeypatch.chdir(tmp_path)

    def run(*, slots: int = 3) -> tuple[Planner, Kept, Watched]:
        with Journal(Path("results")) as journal:
            planner = Planner(searched, journal.results)
            executor = Kept(_outcome, slots=slots, weather=Weather(loss_rate=0.2))
            watched = Watched(journal)
            Sweep(searched, planner, executor, journal, Path("results"), [watched]).run()
        return planner, executor, watched

    return run


@pytest.fixture
def run_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Study], tuple[Planner, Kept]]:
    """Calls run a study into the folder ``results``."""
    monkeypatch.chdir(tmp_path)

    def run(study: Study) -> tuple[Planner, Kept]:
        with Journal(Path("results")) as journal:
            planner = Planner(study, journal.results)
            executor = Kept(_outcome, slots=3, weather=Weather())
            Sweep(study, planner, executor, journal, Path("results"), []).run()
        return planner, executor

    return run


def test_every_run_goes_from_the_planner_over_an_executor_into_the_journal(sweep: Callable[..., Any]) -> None:
    planner, _, watched = sweep()
    # 2 points x (3 arms x 5 seeds + 5 trials)
    assert planner.done == planner.total == 40
    assert set(Journal(Path("results"), read_only=True).results) == set(watched.began) == set(watched.ended)
    assert max(Counter(watched.began).values()) == max(Counter(watched.ended).values()) == 1
    assert watched.ticks > 0


def test_a_job_waits_for_every_slot_and_no_more(sweep: Callable[..., Any]) -> None:
    _, executor, watched = sweep(slots=3)
    assert executor.most == 6
    assert watched.most == 3, "what waits is not running"


def test_a_second_sweep_has_nothing_to_do(sweep: Callable[..., Any]) -> None:
    sweep()
    _, executor, watched = sweep()
    assert (executor.jobs, watched.began) == ([], [])


def test_checkpoints_have_places_that_hold_in_any_folder(sweep: Callable[..., Any], tmp_path: Path) -> None:
    _, executor, _ = sweep()
    for job in executor.jobs:
        assert job.checkpoint == tmp_path / "results" / "checkpoints" / f"{job.key}.pt"


def test_the_first_seed_of_each_confirmed_configuration_keeps_its_model(
    sweep: Callable[..., Any], tmp_path: Path
) -> None:
    planner, executor, _ = sweep()
    kept = {job.key: job.keep_models[0] for job in executor.jobs if job.keep_models[0] is not None}
    first = {run.key for run, _ in planner.runs() if run.stage == "confirm" and run.seed == 0}
    assert set(kept) == first
    for key, keep in kept.items():
        assert keep.folder == tmp_path / "results" / "models" / key
        assert keep.criterion == "avg2_accuracy"


@pytest.mark.parametrize(
    ("compare", "criterion"),
    [
        ({}, "avg3_accuracy"),
        ({"metrics": ("test/top1_accuracy", "test/avg3_accuracy")}, "avg3_accuracy"),
        ({"metrics": ("test/macro_top1_accuracy_few", "test/top3_accuracy")}, "macro_top1_accuracy"),
        ({"metrics": ("test/avg1_set_size",)}, "avg1_accuracy"),
        ({"primary": "test/macro_top3_accuracy"}, "macro_top3_accuracy"),
    ],
)
def test_the_model_kept_without_a_search_is_that_of_what_arms_are_judged_by_first(
    study: Study, compare: dict[str, Any], criterion: str
) -> None:
    plain = replace(study, k=(1, 3), compare=Compare(baseline="cross_entropy", **compare))
    assert model_criterion(plain, "cross_entropy") == criterion
    search = Search(trials=5, objective="val/top1_accuracy", seeds=(1000,))
    assert model_criterion(replace(plain, search=search), "cross_entropy") == "top1_accuracy"


def test_of_an_arm_that_is_compared_at_its_own_k_the_model_kept_is_the_best_at_that(study: Study) -> None:
    arms = {**study.arms, "avgk": Arm(name="avgk", loss="avgk", fixed={"loss.k": 1})}
    own = replace(study, k=(1, 3), arms=arms, compare=Compare(baseline="cross_entropy", k="own"))
    assert model_criterion(own, "avgk") == "avg1_accuracy"
    assert model_criterion(own, "cross_entropy") == "avg3_accuracy"


@pytest.mark.parametrize(
    ("scores", "stages"), [("none", set()), ("confirm", {"confirm"}), ("all", {"confirm", "search"})]
)
def test_scores_are_kept_of_the_runs_that_are_asked_for(
    searched: Study, scores: Any, stages: set[str], run_kept: Callable[[Study], tuple[Planner, Kept]], tmp_path: Path
) -> None:
    planner, executor = run_kept(replace(searched, keep=Keep(scores=scores)))
    kept = {job.key: job.keep_scores[0] for job in executor.jobs if job.keep_scores[0] is not None}
    expected = {run.key for run, _ in planner.runs() if run.stage in stages}
    assert kept == {key: tmp_path / "results" / "scores" / key for key in expected}


def test_beyond_the_limit_no_scores_are_kept(
    searched: Study, run_kept: Callable[[Study], tuple[Planner, Kept]], tmp_path: Path
) -> None:
    (tmp_path / "results" / "scores" / "before").mkdir(parents=True)
    (tmp_path / "results" / "scores" / "before" / "1.pt").write_bytes(bytes(2048))
    _, executor = run_kept(replace(searched, keep=Keep(scores="all", limit=2048 / 2**30)))
    assert {folder for job in executor.jobs for folder in job.keep_scores} == {None}


def _outcome(config: RunConfig) -> RunResult:
    value = random.Random(config.key).random()
    return RunResult(key=config.key, status="done", metrics={"val/avg2_accuracy": value, "test/avg2_accuracy": value})
