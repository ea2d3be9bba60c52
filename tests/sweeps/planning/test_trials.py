"""Trials that are written down are the search: nobody is asked for them again, and more of them change none."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.sweeps.planning.choice import value_in_search
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.samplers.suggestions import Suggestions
from setsweep.sweeps.planning.trials import KnownTrials, Trials
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.study.parts import Confirm
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.sweeps.sweep.loop import Sweep
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult

ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
RACE = Search(trials=12, sampler="tpe", objective="val/avg2_accuracy", seeds=(1000,), race=9)


def _study(search: Search = RACE, **changes: Any) -> Study:
    settings: dict[str, Any] = {
        "name": "which-loss",
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "training": {"epochs": 3},
        "k": (2,),
        "arms": {"avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": ALPHA})},
        "search": search,
        "confirm_seeds": (0, 1, 2),
    }
    return Study(**{**settings, **changes})


def _outcome(config: RunConfig) -> RunResult:
    draw = random.Random(config.key)
    if draw.random() < 0.05:
        return RunResult(key=config.key, status="diverged", reason="nan")
    value = 0.9 - 0.05 * abs(config.loss["alpha"] - 2) + draw.gauss(0, 0.02)
    metrics = {"val/avg2_accuracy": value, "val/top2_accuracy": 1 - config.loss["alpha"] / 20}
    return RunResult(key=config.key, status="done", metrics=metrics)


def _play(planner: Planner, trials: KnownTrials | None = None, *, most: int = 10**9, seed: int = 0) -> list[RunResult]:
    """Train on seven slots in any order; what is decided is written down, as the sweep's loop does."""
    executor = SimulatedExecutor(_outcome, slots=7, seed=seed, weather=Weather(loss_rate=0.1))
    arrived: list[RunResult] = []
    open_: set[str] = set()
    while len(arrived) < most:
        while len(open_) < 14 and isinstance(run := planner.next_run(), PlannedRun):
            for new in planner.new_trials() if trials is not None else ():
                trials.add(new)
            open_.add(run.key)
            executor.submit(Job(configs=(run.config,)))
        if not open_:
            break
        for result in executor.wait(1.0):
            open_.remove(result.key)  # type: ignore[union-attr]
            planner.tell(result)  # type: ignore[arg-type]
            arrived.append(result)  # type: ignore[arg-type]
    return arrived


def _tried(planner: Planner) -> dict[int | None, float]:
    return {run.trial: run.params["alpha"] for run, _ in planner.runs() if run.stage == "search"}


def _runs(planner: Planner) -> list[Any]:
    return [(run.stage, run.trial, run.seed, run.key, result and result.metrics) for run, result in planner.runs()]


def _known(results: Iterable[RunResult]) -> dict[str, RunResult]:
    return {result.key: result for result in results}


def test_a_race_is_run_as_planned_and_its_choice_confirmed() -> None:
    study = _study(confirm=Confirm(default=True))
    planner = Planner(study)
    assert planner.total == 38 + 2 * 3, "12 + 4 x 2 + 3 x 6, the choice and the default"
    _play(planner)
    assert planner.done == planner.total == len(planner.runs())
    [race] = planner.races()
    assert [len(each.means) for each in race.rounds] == [12, 4, 3]
    winner = race.rounds[-1].survivors[0]
    by_stage = {
        stage: {r.params["alpha"] for r, _ in planner.runs() if r.stage == stage} for stage in ("confirm", "default")
    }
    assert by_stage == {"confirm": {_tried(planner)[winner]}, "default": {1.0}}
    assert {run.seed for run, _ in planner.runs() if run.trial == winner} == set(range(1000, 1009))


@pytest.mark.parametrize("seed", range(6))
def test_a_race_that_is_stopped_anywhere_goes_on_to_the_same_runs(seed: int) -> None:
    whole = Planner(_study())
    _play(whole)
    draw, trials = random.Random(seed), KnownTrials()
    results: list[RunResult] = []
    while True:
        planner = Planner(_study(), _known(results), trials)
        results += _play(planner, trials, most=draw.randrange(1, 15), seed=seed)
        if planner.done == planner.total:
            break
    assert _runs(planner) == _runs(whole)


@pytest.mark.parametrize("sampler", ["gp", "tpe", "qmc", "random", "cmaes"])
def test_more_trials_keep_all_that_there_are(sampler: Any) -> None:
    search = replace(RACE, sampler=sampler, race=None, trials=10)
    trials = KnownTrials()
    first = Planner(_study(search))
    results = _play(first, trials)
    more = Planner(_study(replace(search, trials=15)), _known(results), trials)
    new = _play(more, trials)
    assert len(new) == 5 + (3 if more.runs()[-1][0].key not in _known(results) else 0)
    assert {n: alpha for n, alpha in _tried(more).items() if n is not None and n < 10} == _tried(first)
    at_once = Planner(_study(replace(search, trials=15)))
    _play(at_once)
    assert _tried(at_once) == _tried(more), "as if they had been asked for from the start"


def test_what_is_written_down_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = KnownTrials()
    whole = Planner(_study())
    results = _play(whole, trials)
    monkeypatch.setattr(Suggestions, "ask", None)
    assert _runs(Planner(_study(), _known(results), trials)) == _runs(whole)
    assert Planner(_study(), _known(results), trials).new_trials() == []


@pytest.mark.parametrize(
    "changed",
    [
        _study(replace(RACE, sampler="qmc")),
        _study(replace(RACE, batch=3)),
        _study(replace(RACE, seeds=(7,))),
        _study(replace(RACE, objective="val/top2_accuracy")),
        _study(training={"epochs": 4}),
        _study(arms={"avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": replace(ALPHA, high=9.0)})}),
    ],
)
def test_trials_of_another_search_are_not_taken_for_this_ones(changed: Study) -> None:
    trials = KnownTrials()
    _play(Planner(_study()), trials)
    planner = Planner(changed, {}, trials)
    assert planner.new_trials() != []


def test_a_journal_of_results_alone_goes_on_with_trials_that_are_written_down() -> None:
    """As one from before trials were: its own stay, also when later ones are written down beside them."""
    search = replace(RACE, sampler="qmc", race=None)
    first, trials = Planner(_study(search)), KnownTrials()
    results = _play(first)
    for run, _ in first.runs():
        if run.trial is not None:
            trials.add_result(run.arm, run.point, run.trial, run.config.to_dict(), run.key)
    longer = _study(replace(search, sampler="tpe", trials=15))
    planner = Planner(longer, _known(results), trials)
    results += _play(planner, trials)
    again = Planner(longer, _known(results), trials)
    assert (again.done, again.total, again.new_trials()) == (18, 18, [])
    assert _tried(again) == _tried(planner)
    assert {number: alpha for number, alpha in _tried(again).items() if (number or 0) < 12} == _tried(first)


def test_of_a_batch_that_is_known_in_part_the_rest_is_asked_for() -> None:
    whole = Planner(_study())
    _play(whole)
    [full] = Planner(_study()).new_trials()
    trials = KnownTrials()
    trials.add(replace(full, values=full.values[:2]))
    planner = Planner(_study(), {}, trials)
    assert [(new.first, len(new.values)) for new in planner.new_trials()] == [(2, 2)]
    assert list(_tried(planner).values()) == list(_tried(whole).values())[:4]


def test_a_journal_holds_the_trials_before_any_of_their_runs(tmp_path: Path) -> None:
    study = _study(replace(RACE, sampler="qmc"))
    with Journal(tmp_path) as journal:
        planner = Planner(study, journal.results, journal.trials)
        Sweep(study, planner, SimulatedExecutor(_outcome, slots=3), journal, tmp_path).run()
        for look in (*planner.looks(), *planner.looks()):
            journal.add_look(look)
    seen: set[int] = set()
    looks = 0
    for line in (tmp_path / "journal.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["record"] == "trials":
            seen |= set(range(record["first"], record["first"] + len(record["values"])))
        elif record["record"] == "result" and record["stage"] == "search":
            assert record["trial"] in seen
        looks += record["record"] == "look"
    assert (len(seen), looks) == (12, 1)
    again = Journal(tmp_path, read_only=True)
    assert [(look.arm, look.n) for look in again.looks] == [("avgk", 3)]
    assert Planner(study, again.results, again.trials).done == planner.total


def test_an_asynchronous_search_keeps_as_many_trials_open_as_a_batch_has_and_goes_on_where_it_was() -> None:
    search = replace(RACE, sampler="tpe", race=None, trials=20, asynchronous=True)
    trials, planner = KnownTrials(), Planner(_study(search))
    first = [run for run, _ in planner.runs()]
    assert [run.trial for run in first] == [0, 1, 2, 3]
    planner.tell(_outcome(first[2].config))
    assert [run.trial for run, _ in planner.runs()] == [0, 1, 2, 3, 4], "the fifth waits for none of the others"
    for new in planner.new_trials():
        trials.add(new)
    results = [_outcome(first[2].config)]
    results += _play(Planner(_study(search), _known(results), trials), trials, most=9)
    planner = Planner(_study(search), _known(results), trials)
    assert {run.trial for run, _ in planner.runs()} >= set(range(5))
    _play(planner, trials)
    assert planner.done == planner.total == 20 + 3
    assert _runs(Planner(_study(search), planner.results, trials))[:20] == sorted(
        _runs(planner)[:20], key=lambda r: r[1]
    )


def test_of_several_objectives_the_front_is_confirmed() -> None:
    search = replace(RACE, sampler="qmc", race=None, further=("val/top2_accuracy",), front=3)
    planner = Planner(_study(search))
    _play(planner)
    confirmed = {run.trial: run.stage for run, _ in planner.runs() if run.stage != "search"}
    assert sorted(confirmed.values()) == ["confirm", "front", "front"]
    tried = {run.trial: value_in_search(result, "val/avg2_accuracy") for run, result in planner.runs() if result}
    assert confirmed[max(tried, key=lambda trial: tried[trial])] == "confirm", "the best by the first objective"
    assert planner.done == planner.total == 12 + 3 * 3


def test_a_race_at_many_grid_points_is_planned_and_read_again_without_asking_for_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """11 points x (2 arms x (12 trials raced to 9 seeds: 38 runs, choice and default: 8)) = 1,012 runs."""
    arms = {
        f"avgk{i}": Arm(name=f"avgk{i}", loss="avgk", fixed={"training.epochs": i + 1}, searched={"loss.alpha": ALPHA})
        for i in range(2)
    }
    study = _study(
        replace(RACE, sampler="tpe"),
        arms=arms,
        grid={"data.label_noise": tuple(i / 11 for i in range(11))},
        confirm_seeds=(0, 1, 2, 3),
        confirm=Confirm(default=True),
    )
    trials = KnownTrials()
    planner = Planner(study)
    results = _play(planner, trials)
    assert planner.done == planner.total == 1_012
    monkeypatch.setattr(Suggestions, "ask", None)
    assert Planner(study, _known(results), trials).done == planner.total


def test_trials_are_plain_data() -> None:
    trials = Trials(arm="a", point={"data.x": 1}, first=4, values=[{"loss.alpha": 2.0}], of="0")
    assert Trials(**json.loads(json.dumps(trials.to_dict()))) == trials
