"""What each search has come to, from its runs alone: rounds, choice, optimism, what tuning has brought."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.statistics.methods.best import certificate
from setsweep.sweeps.statistics.searched import gap, searched
from setsweep.sweeps.study.parts import Compare, Confirm
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.trainables.config.run_result import RunResult

ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
Outcome = Callable[[PlannedRun], RunResult]


def _study(**changes: Any) -> Study:
    settings: dict[str, Any] = {
        "name": "which-loss",
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "training": {"epochs": 3},
        "k": (2,),
        "arms": {
            "avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": ALPHA}),
            "cross_entropy": Arm(name="cross_entropy", loss="cross_entropy"),
        },
        "grid": {"data.label_noise": (0.0, 0.2)},
        "search": Search(trials=12, sampler="qmc", objective="val/avg2_accuracy", seeds=(1000,), race=9),
        "confirm_seeds": (0, 1, 2),
        "confirm": Confirm(default=True),
        "compare": Compare(baseline="cross_entropy"),
    }
    return Study(**{**settings, **changes})


def _outcome(run: PlannedRun) -> RunResult:
    draw = random.Random(run.key)
    if run.stage == "search" and draw.random() < 0.1:
        return RunResult(key=run.key, status="diverged", reason="nan")
    value = 0.9 - 0.02 * abs(float(run.params.get("alpha", 1.0)) - 3) + draw.gauss(0, 0.005)
    metrics = {f"{split}/{rule}2_accuracy": value for split in ("val", "test") for rule in ("top", "avg")}
    return RunResult(key=run.key, status="done", metrics=metrics)


def _played(study: Study, outcome: Outcome = _outcome, *, most: int = 10**6) -> Planner:
    planner = Planner(study)
    for _ in range(most):
        run = planner.next_run()
        if not isinstance(run, PlannedRun):
            break
        planner.tell(outcome(run))
    return planner


@pytest.mark.parametrize("search", [{}, {"race": None}, {"race": None, "seeds": (1000, 1001, 1002)}])
def test_the_runs_alone_say_what_the_planner_has_chosen(search: dict[str, Any]) -> None:
    study = _study(search=replace(_study().search, **search))
    planner = _played(study)
    found = searched(study, planner.runs())
    assert [(each.arm, each.point) for each in found] == [("avgk", point) for point in study.points()]
    for each, race in zip(found, planner.races(), strict=True):
        assert each.rounds == race.rounds
        assert each.chosen is not None
        confirmed = [run for run, _ in planner.runs() if (run.arm, run.stage) == ("avgk", "confirm")]
        chosen = {run.params["alpha"] for run in confirmed if run.point == each.point}
        assert chosen == {each.trials[each.chosen].params["alpha"]}
    assert found == searched(study, planner.runs()[::-1])


def test_a_race_says_what_it_takes_and_what_all_seeds_would() -> None:
    [first, _] = searched(_study(), _played(_study()).runs())
    assert (first.runs, first.runs_of_all_seeds) == (12 + 4 * 2 + 3 * 6, 12 * 9)
    assert [len(each.dropped) for each in first.rounds] == [8, 1, 0]


def test_a_search_that_is_under_way_has_no_choice() -> None:
    for most in (1, 20, 60):
        for each in searched(_study(), _played(_study(), most=most).runs()):
            assert (each.chosen, each.mean, each.optimism, each.tunability) == (None, None, None, None)
    [begun, _] = searched(_study(), _played(_study(), most=60).runs())
    assert begun.leader == begun.rounds[0].survivors[0], "before there is a choice, who leads"
    assert searched(_study(), []) == []


def test_optimism_is_the_search_mean_of_the_choice_less_its_mean_on_fresh_seeds() -> None:
    def outcome(run: PlannedRun) -> RunResult:
        value = {"search": 0.8, "default": 0.6}.get(run.stage, 0.7) + run.seed % 2 / 100
        metrics = {"val/avg2_accuracy": value, "test/avg2_accuracy": value}
        return RunResult(key=run.key, status="done", metrics=metrics)

    [first, _] = searched(_study(), _played(_study(), outcome).runs())
    assert first.chosen == 0, "all are equal: the first"
    assert first.optimism is not None
    # Seeds 1000..1008 hold four odd ones, 0..2 one: 0.8 + 4/900 - 0.7 - 1/300.
    assert first.optimism.difference == pytest.approx(0.1 + 0.01 * (4 / 9 - 1 / 3))
    assert first.tunability is not None
    assert first.tunability.mean == pytest.approx(0.0), "the choice is the default: its runs are shared"


def test_of_a_choice_without_a_number_on_fresh_seeds_no_optimism_is_known() -> None:
    def outcome(run: PlannedRun) -> RunResult:
        if run.stage != "search":
            return RunResult(key=run.key, status="diverged", reason="nan")
        return RunResult(key=run.key, status="done", metrics={"val/avg2_accuracy": 0.8})

    [first, _] = searched(_study(), _played(_study(), outcome).runs())
    assert (first.chosen, first.optimism) == (0, None)


def test_the_certificate_is_hsus_bound_over_the_race_as_it_was_run() -> None:
    """The same function of the values as they lie in the runs, dropped trials with the few seeds that they have."""
    planner = _played(_study())
    [first, _] = searched(_study(), planner.runs())
    values: dict[int, dict[int, float]] = {}
    for run, result in planner.runs():
        if run.stage == "search" and run.point == first.point and result is not None:
            values.setdefault(run.trial or 0, {})[run.seed] = result.metrics.get("val/avg2_accuracy", 0.0)
    assert {len(each) for each in values.values()} == {1, 3, 9}
    chosen = values.pop(first.chosen or 0)
    expected = certificate(chosen, list(values.values()), confidence=0.95)
    assert first.certificate is not None
    assert first.certificate.bound == expected.bound
    assert first.certificate.bound is not None
    assert first.certificate.bound > 0
    assert first.certificate.rival == list(values)[expected.rival or 0]


def test_one_seed_a_trial_gives_no_certificate_and_two_give_the_wider_one_of_all_seeds_for_all() -> None:
    one, two = (_study(search=replace(_study().search, race=None, seeds=seeds)) for seeds in ((1000,), (1000, 1001)))
    [of_one, _] = searched(one, _played(one).runs())
    assert of_one.certificate is not None
    assert of_one.certificate.bound is None
    [of_two, _] = searched(two, _played(two).runs())
    assert of_two.certificate is not None
    assert of_two.certificate.bound is not None
    assert of_two.certificate.candidates == 12


def test_what_the_search_has_brought_is_chosen_less_default_on_the_primary_test_metric() -> None:
    [first, _] = searched(_study(), _played(_study()).runs())
    runs = [(run, result) for run, result in _played(_study()).runs() if run.point == first.point and result]
    test = "test/avg2_accuracy"
    own = {run.seed: result.metrics[test] for run, result in runs if run.stage == "confirm" and run.arm == "avgk"}
    default = {run.seed: result.metrics[test] for run, result in runs if run.stage == "default"}
    assert first.tunability is not None
    assert first.tunability.mean == pytest.approx(sum(own[s] - default[s] for s in range(3)) / 3)
    assert first.tunability.n == 3


def test_of_several_objectives_the_front_begins_with_the_one_that_stands_for_the_arm() -> None:
    search = replace(_study().search, race=None, further=("val/top2_accuracy",), front=3)

    def outcome(run: PlannedRun) -> RunResult:
        alpha = float(run.params.get("alpha", 1.0))
        metrics = {"val/avg2_accuracy": 0.9 - alpha / 100, "val/top2_accuracy": 0.5 + alpha / 100}
        return RunResult(key=run.key, status="done", metrics=metrics)

    study = _study(search=search, grid={})
    [found] = searched(study, _played(study, outcome).runs())
    alphas = {number: trial.params["alpha"] for number, trial in found.trials.items()}
    assert found.chosen == found.front[0] == min(alphas, key=lambda number: alphas[number])
    assert len(found.front) == 3


def test_a_gap_is_students_interval_for_two_samples_of_one_variance() -> None:
    """SciPy's ttest_ind of the same two samples."""
    from scipy.stats import ttest_ind

    first, second = [0.5, 0.7, 0.6], [0.4, 0.45, 0.5, 0.35]
    found = gap(first, second, confidence=0.9)
    expected = ttest_ind(first, second).confidence_interval(0.9)
    assert found.difference == pytest.approx(0.175)
    assert (found.ci_low, found.ci_high) == pytest.approx((expected.low, expected.high))


def test_one_value_has_an_interval_against_several_and_none_against_one() -> None:
    """s^2 = 0.02 / 2 of the three alone, t(0.975, 2) = 4.3027: 4.3027 x 0.1 x sqrt(1 + 1/3) = 0.4968."""
    found = gap([0.5], [0.1, 0.2, 0.3], confidence=0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx((0.3 - 0.4968, 0.3 + 0.4968), abs=1e-4)
    assert gap([0.5], [0.1], confidence=0.95).ci_low is None
    assert gap([0.5, 0.5], [0.1, 0.1], confidence=0.95).ci_low is None
