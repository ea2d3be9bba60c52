"""The planner against a simulated cluster: the same table whatever happens, and no slot waits without need."""

from __future__ import annotations

import itertools
import math
import random
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from setsweep.sweeps.execution.answers import Done, Wait
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.sweeps.planning.counts import Counts
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult

ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
EPSILON = Space(kind="log_uniform", low=0.01, high=10.0, default=0.2)
BATCH_SIZE = Space(kind="choice", choices=(32, 64), default=64)
STORM = Weather(loss_rate=0.2, slow_share=0.3)


def _study(**changes: Any) -> Study:
    settings: dict[str, Any] = {
        "name": "which-loss",
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "training": {"epochs": 3},
        "k": (2,),
        "arms": {
            "cross_entropy": Arm(name="cross_entropy", loss="cross_entropy"),
            "avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": ALPHA, "training.batch_size": BATCH_SIZE}),
            "noised": Arm(
                name="noised",
                loss="noised_topk_hinge",
                fixed={"loss.num_samples": 3},
                searched={"loss.epsilon": EPSILON},
            ),
        },
        "grid": {"data.label_noise": (0.0, 0.2)},
        "search": Search(trials=6, objective="val/avg2_accuracy", seeds=(1000, 1001)),
        "confirm_seeds": (0, 1, 2),
        "compare": Compare(baseline="cross_entropy", metrics=("test/avg2_accuracy",)),
    }
    return Study(**{**settings, **changes})


def _outcome(config: RunConfig) -> RunResult:
    """A result that the configuration alone decides; about one run in twelve diverges or fails."""
    draw = random.Random(config.key)
    fate = draw.random()
    if fate < 0.05:
        return RunResult(key=config.key, status="diverged", reason="training loss must be finite, got nan in epoch 2.")
    if fate < 0.08:
        return RunResult(key=config.key, status="failed", reason="the worker died in each of 3 attempts")
    skill = config.loss.get("alpha", config.loss.get("epsilon", 1.0))
    value = 0.9 - 0.05 * abs(math.log(skill / 2)) - config.data["label_noise"] / 5 + draw.gauss(0, 0.01)
    splits = ("val", "test") if config.test else ("val",)
    metrics = {f"{split}/{rule}2_accuracy": value for split in splits for rule in ("top", "avg")}
    return RunResult(key=config.key, status="done", metrics=metrics, seconds=draw.random())


def _drive(planner: Planner, executor: SimulatedExecutor, *, most: float = math.inf) -> list[RunResult]:
    """What a sweep does, up to `most` results; returns them in their order of arrival."""
    arrived: list[RunResult] = []
    training: set[str] = set()
    while len(arrived) < most:
        while len(training) < 2 * executor.slots and isinstance(run := planner.next_run(), PlannedRun):
            training.add(run.key)
            executor.submit(Job(configs=(run.config,)))
        if not training:
            assert planner.next_run() == Done(), "a planner that waits for nothing would hang the sweep"
            break
        for result in executor.wait(1.0):
            training.remove(result.key)
            planner.tell(result)
            arrived.append(result)
    return arrived


def _table(study: Study, planner: Planner) -> str:
    return render(build_report(study, planner.runs()), "json")


def _train_all(study: Study, *, known: Iterable[RunResult] = (), slots: int = 4, seed: int = 0) -> Planner:
    planner = Planner(study, {result.key: result for result in known})
    _drive(planner, SimulatedExecutor(_outcome, slots=slots, seed=seed, weather=STORM))
    return planner


@pytest.fixture(scope="module")
def table() -> str:
    """The table of the example study, trained on one slot on which nothing happens."""
    study = _study()
    planner = Planner(study)
    _drive(planner, SimulatedExecutor(_outcome, slots=1))
    return _table(study, planner)


@pytest.mark.parametrize("slots", [1, 2, 7, 16])
def test_any_number_of_slots_gives_the_same_table(slots: int, table: str) -> None:
    assert _table(_study(), _train_all(_study(), slots=slots)) == table


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_arrival_gives_the_same_table(seed: int, table: str) -> None:
    assert _table(_study(), _train_all(_study(), slots=7, seed=seed)) == table


@pytest.mark.parametrize("seed", range(8))
def test_a_planner_rebuilt_from_any_part_of_the_journal_goes_on_to_the_same_table(seed: int, table: str) -> None:
    moments = random.Random(seed)
    journal: list[RunResult] = []
    for restart in itertools.count():
        planner = Planner(_study(), {result.key: result for result in journal})
        executor = SimulatedExecutor(_outcome, slots=5, seed=100 * seed + restart, weather=STORM)
        new = _drive(planner, executor, most=moments.randrange(1, 25))
        assert not {result.key for result in new} & {result.key for result in journal}, "trained twice"
        journal += new
        if planner.done == planner.total:
            break
    assert _table(_study(), planner) == table


def test_results_in_any_order_in_the_journal_rebuild_the_same_planner(table: str) -> None:
    results = list(_train_all(_study()).results.values())
    random.Random(0).shuffle(results)
    planner = Planner(_study(), {result.key: result for result in results})
    assert planner.next_run() == Done()
    assert _table(_study(), planner) == table


@pytest.mark.parametrize("sampler", ["auto", "tpe", "random", "qmc", "grid", "gp", "cmaes", "nsga2"])
def test_every_sampler_gives_the_same_table_on_2_slots_and_after_a_restart_on_9(sampler: Any) -> None:
    arms = dict(_study().arms)
    if sampler == "grid":
        arms = {"avgk": Arm(name="avgk", loss="avgk", searched={"training.batch_size": BATCH_SIZE})}
    if sampler == "cmaes":
        del arms["avgk"]
    further = ("val/top2_accuracy",) if sampler == "nsga2" else ()
    search = Search(trials=14, sampler=sampler, objective="val/avg2_accuracy", further=further, seeds=(1000,), batch=4)
    study = _study(arms=arms, search=search, grid={}, compare=Compare())
    first = _train_all(study, slots=2)
    some = list(first.results.values())[:21]
    assert _table(study, _train_all(study, known=some, slots=9, seed=5)) == _table(study, first)


def test_no_run_is_given_out_twice_and_only_lost_ones_are_started_again() -> None:
    study = _study()
    planner = Planner(study)
    executor = SimulatedExecutor(_outcome, slots=7, seed=3, weather=STORM)
    arrived = _drive(planner, executor)
    assert max(Counter(result.key for result in arrived).values()) == 1
    assert sum(executor.started.values()) == len(arrived) + executor.losses
    assert executor.losses > 0


def test_everything_planned_is_trained() -> None:
    planner = _train_all(_study())
    # 2 points x (2 searched arms x 6 trials x 2 seeds + 3 arms x 3 seeds)
    assert planner.total == planner.done == len(planner.runs()) == 66
    assert [planner.counts(arm).total for arm in planner.study.arms] == [6, 30, 30]
    counts = planner.counts()
    assert counts.ended == counts.total
    assert counts.total - counts.done == sum(_outcome(run.config).status != "done" for run, _ in planner.runs()) > 0


def test_trial_0_is_the_default_configuration() -> None:
    planner = Planner(_study())
    firsts = [run for run, _ in planner.runs() if run.trial == 0 and run.arm == "avgk"]
    assert {(run.params["alpha"], run.params["training.batch_size"]) for run in firsts} == {(1.0, 64)}


def test_suggestions_depend_on_finished_batches_alone() -> None:
    """The second batch is the same whether or not other arms and points have told anything in between."""
    study = _study()

    def second_batch(others_first: bool) -> list[Any]:
        planner = Planner(study)
        runs = [run for run, _ in planner.runs()]
        own = [run for run in runs if (run.arm, run.point["data.label_noise"]) == ("avgk", 0.2)]
        rest = [run for run in runs if run not in own]
        for run in [*rest, *own] if others_first else reversed(own):
            planner.tell(_outcome(run.config))
        return [run.params for run, _ in planner.runs() if (run.arm, run.point) == ("avgk", own[0].point)][8:12]

    assert len(second_batch(others_first=True)) == 4
    assert second_batch(others_first=True) == second_batch(others_first=False)


def test_a_batch_is_not_asked_for_before_the_one_before_it_is_whole() -> None:
    study = _study(grid={}, arms={"avgk": _study().arms["avgk"]})
    planner = Planner(study)
    given = []
    while isinstance(run := planner.next_run(), PlannedRun):
        given.append(run)
    assert {run.trial for run in given} == {0, 1, 2, 3}
    for run in given[:-1]:
        planner.tell(_outcome(run.config))
        assert planner.next_run() == Wait()
    planner.tell(_outcome(given[-1].config))
    run = planner.next_run()
    assert isinstance(run, PlannedRun)
    assert run.trial == 4


def test_the_confirmation_retrains_the_best_configuration_with_seeds_of_its_own() -> None:
    planner = _train_all(_study())
    for point, arm in itertools.product(planner.study.points(), ("avgk", "noised")):
        own = [(run, result) for run, result in planner.runs() if (run.arm, run.point) == (arm, point) and result]
        trials: dict[int | None, list[float]] = {}
        for run, result in own:
            if run.stage == "search":
                trials.setdefault(run.trial, []).append(result.metrics.get("val/avg2_accuracy", 0.0))
        best = max(trials, key=lambda trial: sum(trials[trial]))
        [params] = [run.params for run, _ in own if run.trial == best][:1]
        confirmed = [run for run, _ in own if run.stage == "confirm"]
        assert [run.params for run in confirmed] == [params] * 3
        assert [run.seed for run in confirmed] == [0, 1, 2]
        assert {run.seed for run, _ in own if run.stage == "search"} == {1000, 1001}
        assert all(run.config.test for run in confirmed)
        assert not any(run.config.test for run, _ in own if run.stage == "search")


def test_a_dead_seed_counts_as_0_in_the_search() -> None:
    """Trial 1 is better on the seed that lives, but one of its two seeds diverges: trial 0 (of 32) is chosen."""
    study = _study(
        grid={},
        arms={"avgk": Arm(name="avgk", loss="avgk", searched={"training.batch_size": BATCH_SIZE})},
        search=Search(trials=2, sampler="grid", objective="val/avg2_accuracy", seeds=(1000, 1001)),
    )
    planner = Planner(study)
    for run, _ in planner.runs():
        if run.trial == 1 and run.seed == 1001:
            planner.tell(RunResult(key=run.key, status="diverged", reason="nan", metrics={"val/avg2_accuracy": 0.99}))
        else:
            value = 0.6 if run.trial == 0 else 0.99
            planner.tell(RunResult(key=run.key, status="done", metrics={"val/avg2_accuracy": value}))
    chosen = {run.params["training.batch_size"] for run, _ in planner.runs() if run.stage == "confirm"}
    assert chosen == {32}


def test_of_equally_good_trials_the_first_is_chosen() -> None:
    planner = Planner(_study(grid={}))
    while isinstance(run := planner.next_run(), PlannedRun):
        planner.tell(RunResult(key=run.key, status="done", metrics={"val/avg2_accuracy": 0.5}))
    assert {run.params["alpha"] for run, _ in planner.runs() if run.arm == "avgk" and run.stage == "confirm"} == {1.0}


def test_a_search_in_which_every_run_dies_confirms_the_default() -> None:
    planner = Planner(_study(grid={}))
    while isinstance(run := planner.next_run(), PlannedRun):
        planner.tell(RunResult(key=run.key, status="failed", reason="no memory"))
    assert {run.params["alpha"] for run, _ in planner.runs() if run.arm == "avgk" and run.stage == "confirm"} == {1.0}
    assert planner.counts().done == 0
    assert planner.counts().ended == planner.total


def test_arms_that_ask_for_the_same_training_train_it_once_and_both_have_it() -> None:
    twins = {name: Arm(name=name, loss="cross_entropy") for name in ("one", "two")}
    study = _study(arms=twins, grid={}, search=None, compare=Compare())
    planner = Planner(study)
    arrived = _drive(planner, SimulatedExecutor(_outcome, slots=2))
    assert len(arrived) == 3
    assert planner.total == planner.done == 6
    assert [place.arm for place in planner.runs_of(arrived[0].key)] == ["one", "two"]
    report = build_report(study, planner.runs())
    assert {(chosen.arm, chosen.done + chosen.failed) for chosen in report.chosen} == {("one", 3), ("two", 3)}


@pytest.mark.parametrize("sampler", ["auto", "tpe", "random", "qmc"])
def test_trials_beyond_the_configurations_that_there_are_become_their_seeds(sampler: Any) -> None:
    """13 trials of two configurations: 6 seeds of each, and no configuration twice."""
    search = Search(trials=13, sampler=sampler, objective="val/avg2_accuracy", seeds=(1000,))
    arms = {"avgk": Arm(name="avgk", loss="avgk", searched={"training.batch_size": BATCH_SIZE})}
    planner = Planner(_study(arms=arms, search=search, grid={}))
    arrived = _drive(planner, SimulatedExecutor(_outcome, slots=2))
    assert len(arrived) == planner.total == planner.done == 12 + 3
    tried = {(run.trial, run.params["training.batch_size"]) for run, _ in planner.runs() if run.stage == "search"}
    assert tried == {(0, 64), (1, 32)}
    assert {run.seed for run, _ in planner.runs() if run.trial == 1} == set(range(1000, 1006))


def test_results_of_another_form_of_the_study_do_not_count() -> None:
    before = _train_all(_study(grid={}))
    study = _study(grid={}, arms={"focal": Arm(name="focal", loss="focal")}, search=None, compare=Compare())
    planner = Planner(study, before.results)
    assert planner.counts() == Counts(total=3, done=0, diverged=0, failed=0)
    _drive(planner, SimulatedExecutor(_outcome, slots=2))
    assert planner.done == 3


def test_an_added_arm_is_all_that_is_trained() -> None:
    before = _train_all(_study())
    study = _study(arms={**_study().arms, "focal": Arm(name="focal", loss="focal")})
    planner = Planner(study, before.results)
    arrived = _drive(planner, SimulatedExecutor(_outcome, slots=2))
    assert len(arrived) == 2 * 3
    assert {planner.runs_of(result.key)[0].arm for result in arrived} == {"focal"}


def test_telling_a_result_twice_changes_nothing() -> None:
    planner = _train_all(_study())
    before = _table(planner.study, planner), planner.done, planner.counts()
    for result in list(planner.results.values()):
        planner.tell(result)
    assert (_table(planner.study, planner), planner.done, planner.counts()) == before


def test_a_group_is_whole_with_its_last_seed() -> None:
    planner = Planner(_study(search=None, arms={"cross_entropy": _study().arms["cross_entropy"]}, grid={}))
    runs = [run for run, _ in planner.runs()]
    for run in runs[:-1]:
        planner.tell(_outcome(run.config))
        assert planner.group_of(run) is None
    planner.tell(_outcome(runs[-1].config))
    assert planner.group_of(runs[0]) == [(run, _outcome(run.config)) for run in runs]


def test_interleaved_arms_keep_16_slots_busy() -> None:
    """Searches wait for their own batches of 8 runs only: 16 of them side by side keep the slots busy, one does not."""

    def utilisation(arms: int, points: int) -> float:
        study = _study(
            arms={
                str(i): Arm(name=str(i), loss="avgk", fixed={"training.epochs": i + 1}, searched={"loss.alpha": ALPHA})
                for i in range(arms)
            },
            grid={"data.label_noise": tuple(i / 10 for i in range(points))},
            search=Search(trials=24, sampler="random", objective="val/avg2_accuracy", seeds=(1000, 1001)),
            compare=Compare(),
        )
        executor = SimulatedExecutor(_outcome, slots=16, seed=0)
        _drive(Planner(study), executor)
        return executor.utilisation

    assert utilisation(arms=4, points=4) > 0.93  # measured: 0.95, durations being exponential
    assert utilisation(arms=4, points=2) > 0.85  # 0.87: the last runs of all are a larger part
    assert utilisation(arms=1, points=1) < 0.25


@pytest.mark.timeout(60)
def test_ten_thousand_runs_take_seconds_to_plan() -> None:
    """20 points x (2 searched arms x 120 trials x 2 seeds + 5 arms x 4 seeds) = 10,000 runs."""
    arms = {
        **{f"avgk{i}": Arm(name=f"avgk{i}", loss="avgk", searched={"loss.alpha": ALPHA}) for i in range(2)},
        **{f"ce{i}": Arm(name=f"ce{i}", loss="cross_entropy", fixed={"training.epochs": i + 1}) for i in range(3)},
    }
    study = _study(
        arms=arms,
        grid={"data.label_noise": tuple(i / 40 for i in range(20))},
        search=Search(trials=120, sampler="random", objective="val/avg2_accuracy", seeds=(1000, 1001), batch=8),
        confirm_seeds=(0, 1, 2, 3),
        compare=Compare(),
    )
    planner = Planner(study)
    began = time.process_time()
    arrived = _drive(planner, SimulatedExecutor(_outcome, slots=64, weather=STORM))
    for result in arrived:  # what a recorder asks
        for place in planner.runs_of(result.key):
            planner.group_of(place)
    assert planner.done == planner.total == 10_000
    assert len(arrived) == 10_000 - 20 * 2  # the two searched arms share their default configuration
    assert time.process_time() - began < 30  # measured: 4 s, the simulation and 4800 suggestions included
