"""Seeds that train together: which do, what a probe decides, and that a sweep keeps to it after a stop."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.executor import GroupSize, Job
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.seed_groups import SeedGroups, Train, cost_class
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.loop import Sweep
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult


class Kept(SimulatedExecutor):
    """Keeps the jobs that it was given, and answers probes with a number of its own."""

    def __init__(self, *, slots: int = 3, answer: int = 3, loss_rate: float = 0.0, seed: int = 0) -> None:
        super().__init__(_outcome, slots=slots, seed=seed, weather=Weather(loss_rate=loss_rate))
        self.jobs: list[Job] = []
        self.answer, self.answers = answer, list[GroupSize]()

    def submit(self, job: Job) -> None:
        self.jobs.append(job)
        super().submit(job)

    def wait(self, timeout: float) -> list[Any]:
        outcomes = super().wait(timeout)
        self.answers += [each for each in outcomes if isinstance(each, GroupSize)]
        return [replace(each, seeds=self.answer) if isinstance(each, GroupSize) else each for each in outcomes]


def _outcome(config: RunConfig) -> RunResult:
    value = random.Random(config.key).random()
    return RunResult(key=config.key, status="done", metrics={"val/top2_accuracy": value, "test/top2_accuracy": value})


def _sweep(study: Study, folder: Path, executor: Kept, *, most: int | None = None) -> Planner:
    with Journal(folder) as journal:
        planner = Planner(study, journal.results)
        sweep = Sweep(study, planner, executor, journal, folder)
        if most is not None:

            class Stop:
                started = staticmethod(lambda run: None)
                tick = staticmethod(lambda: None)

                def finished(self, run: object, result: object) -> None:
                    if planner.done >= most:
                        raise KeyboardInterrupt

            sweep.watchers = [Stop()]  # type: ignore[list-item]
        sweep.run()
    return planner


def _asking(study: Study, seeds: Any) -> Study:
    return replace(study, resources=Resources(seeds_per_worker=seeds))


def _groups(executor: Kept) -> list[list[int]]:
    return [[config.seed for config in job.configs] for job in executor.jobs if not job.probe]


def test_without_a_word_every_seed_is_a_job_of_its_own(study: Study, tmp_path: Path) -> None:
    executor = Kept()
    assert _sweep(study, tmp_path, executor).done == 20
    assert sorted(_groups(executor)) == sorted([[seed] for seed in range(5)] * 4)


def test_a_group_holds_as_many_seeds_of_one_configuration_as_the_study_says(study: Study, tmp_path: Path) -> None:
    executor = Kept(loss_rate=0.2)
    assert _sweep(_asking(study, 2), tmp_path, executor).done == 20
    assert sorted(_groups(executor)) == sorted([[0, 1], [2, 3], [4]] * 4)
    for job in executor.jobs:
        first = job.configs[0]
        assert all(replace(config, seed=first.seed).key == first.key for config in job.configs)


def test_a_family_is_probed_once_on_all_its_seeds_and_its_runs_wait_for_the_answer(
    study: Study, tmp_path: Path
) -> None:
    executor = Kept(answer=3)
    planner = _sweep(_asking(study, "auto"), tmp_path, executor)
    probes = [job for job in executor.jobs if job.probe]
    # the label noise of the two points makes no family, the two losses do
    assert [[config.seed for config in job.configs] for job in probes] == [[0, 1, 2, 3, 4]] * 2
    assert {job.configs[0].loss["name"] for job in probes} == {"cross_entropy", "focal"}
    assert sorted(_groups(executor)) == sorted([[0, 1, 2], [3, 4]] * 4)
    assert planner.done == planner.total == 20


def test_what_a_probe_decided_holds_for_every_later_sweep(study: Study, tmp_path: Path) -> None:
    _sweep(_asking(study, "auto"), tmp_path, Kept(answer=2))
    more = replace(_asking(study, "auto"), confirm_seeds=tuple(range(9)))
    executor = Kept(answer=4)
    _sweep(more, tmp_path, executor)
    assert not [job for job in executor.jobs if job.probe]
    assert sorted(_groups(executor)) == sorted([[5, 6], [7, 8]] * 4)


@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_that_was_stopped_trains_the_same_groups(study: Study, tmp_path: Path, seed: int) -> None:
    """Results of a team are in the journal together or not at all, so a team is never torn."""
    whole = Kept(answer=3)
    _sweep(_asking(study, "auto"), tmp_path / "whole", whole)
    first, second = Kept(answer=3, seed=seed), Kept(answer=3, seed=seed)
    with pytest.raises(KeyboardInterrupt):
        _sweep(_asking(study, "auto"), tmp_path / "stopped", first, most=4 + 3 * seed)
    done = Journal(tmp_path / "stopped", read_only=True).results
    _sweep(_asking(study, "auto"), tmp_path / "stopped", second)
    teams = {job.key for job in whole.jobs if not job.probe}
    finished = {job.key for job in first.jobs if not job.probe and all(config.key in done for config in job.configs)}
    assert finished | {job.key for job in second.jobs if not job.probe} == teams
    assert not finished & {job.key for job in second.jobs}


def test_a_run_is_announced_when_no_probe_has_its_slot(study: Study, tmp_path: Path) -> None:
    executor = Kept(slots=1)
    answered: list[int] = []

    class Watcher:
        tick = staticmethod(lambda: None)
        finished = staticmethod(lambda run, result: None)

        def started(self, run: object) -> None:
            answered.append(len(executor.answers))

    with Journal(tmp_path) as journal:
        asking = _asking(study, "auto")
        Sweep(asking, Planner(asking), executor, journal, tmp_path, [Watcher()]).run()
    assert answered == [2] * 20


def test_what_few_seeds_of_a_search_say_does_not_hold_for_a_confirmation(study: Study) -> None:
    run, _ = Planner(study).runs()[0]
    assert cost_class(replace(run, candidate=replace(run.candidate, stage="search", trial=0))) != cost_class(run)


def test_a_single_seed_needs_no_probe(study: Study) -> None:
    planner = Planner(replace(study, confirm_seeds=(7,)))
    groups = SeedGroups(planner, Resources(seeds_per_worker="auto"), {}, lambda name, seeds: None)
    sizes = []
    while isinstance(work := groups.next(), Train):
        sizes.append(len(work.runs))
    assert sizes == [1] * 4


def test_a_cost_class_leaves_out_what_does_not_change_the_cost(study: Study) -> None:
    runs = [run for run, _ in Planner(replace(study, grid={"training.epochs": (1, 2)})).runs()]
    assert len({cost_class(run) for run in runs}) == 2
    runs = [run for run, _ in Planner(replace(study, grid={"training.batch_size": (16, 32)})).runs()]
    assert len({cost_class(run) for run in runs}) == 4
