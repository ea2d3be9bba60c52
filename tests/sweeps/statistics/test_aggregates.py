from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.statistics.aggregates import Aggregate, aggregate, epoch_aggregates
from setsweep.sweeps.statistics.methods.two_stage import two_stage_interval
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.config.run_result import RunResult


def planned(arm: str = "avgk", seed: int = 0, trial: int | None = None, noise: float = 0.0) -> PlannedRun:
    loss = {"name": arm, "alpha": 0.5, "trial": trial}
    config = RunConfig(
        data={"name": "circle", "label_noise": noise},
        model={"name": "linear"},
        loss=loss,
        training=Training(),
        k=(2,),
        seed=seed,
    )
    stage: Any = "confirm" if trial is None else "search"
    point = {"data.label_noise": noise}
    candidate = Candidate(arm=arm, point=point, params={"alpha": 0.5}, stage=stage, trial=trial)
    return PlannedRun(candidate=candidate, config=config)


def done(run: PlannedRun, value: float, **changes: Any) -> tuple[PlannedRun, RunResult]:
    result: dict[str, Any] = {"metrics": {"test/top2_accuracy": value}, **changes}
    return run, RunResult(key=run.key, status="done", **result)


def dead(run: PlannedRun, reason: str | None = "the loss is not finite") -> tuple[PlannedRun, RunResult]:
    return run, RunResult(key=run.key, status="diverged", reason=reason)


def test_a_configuration_has_one_aggregate_per_final_metric() -> None:
    metrics = {"test/top2_accuracy": 0.5, "test/avg2_accuracy": 0.6}
    found = aggregate([done(planned(seed=s), 0, metrics=metrics) for s in range(3)], confidence=0.95)
    assert [a.metric for a in found] == ["test/avg2_accuracy", "test/top2_accuracy"]
    assert [a.n for a in found] == [3, 3]


def test_an_aggregate_says_which_configuration_it_is_of() -> None:
    (found,) = aggregate([done(planned("avgk", 3, trial=7, noise=0.2), 0.5)], confidence=0.95)
    assert (found.arm, found.stage, found.trial, found.seeds) == ("avgk", "search", 7, (3,))
    assert (found.point, found.params) == ({"data.label_noise": 0.2}, {"alpha": 0.5})


def test_the_mean_is_over_seeds_with_the_sample_standard_deviation() -> None:
    (found,) = aggregate([done(planned(seed=s), v) for s, v in enumerate((0.25, 0.5, 0.75))], confidence=0.95)
    assert (found.mean, found.std) == (0.5, 0.25)
    assert found.values == {0: 0.25, 1: 0.5, 2: 0.75}
    # t(0.975; 2) = 4.302653, times 0.25 / sqrt(3).
    assert found.ci_high == pytest.approx(0.5 + 0.621034, abs=1e-6)


def test_one_seed_has_neither_interval_nor_standard_deviation() -> None:
    (found,) = aggregate([done(planned(), 0.5)], confidence=0.95)
    assert (found.mean, found.ci_low, found.ci_high, found.std, found.n) == (0.5, None, None, None, 1)


def test_arms_points_stages_and_trials_are_kept_apart() -> None:
    runs = [planned("a"), planned("b"), planned("a", noise=0.1), planned("a", trial=0), planned("a", trial=1)]
    assert len(aggregate([done(run, 0.5) for run in runs], confidence=0.95)) == 5


def test_a_failed_seed_changes_n_and_failed_but_not_the_mean_of_the_others() -> None:
    alive = [done(planned(seed=s), v) for s, v in enumerate((0.3, 0.5))]
    (without,) = aggregate(alive, confidence=0.95)
    (with_dead,) = aggregate([*alive, dead(planned(seed=2))], confidence=0.95)
    assert (with_dead.mean, with_dead.ci_low, with_dead.std) == (without.mean, without.ci_low, without.std)
    assert (with_dead.n, with_dead.seeds) == (2, (0, 1, 2))
    assert with_dead.failed == {2: "the loss is not finite"}


def test_a_failure_without_a_reason_is_named_by_its_status() -> None:
    (found,) = aggregate([done(planned(), 0.5), dead(planned(seed=1), None)], confidence=0.95)
    assert found.failed == {1: "diverged"}


def test_a_waiting_seed_is_planned_but_neither_counted_nor_failed() -> None:
    (found,) = aggregate([done(planned(), 0.5), (planned(seed=1), None)], confidence=0.95)
    assert (found.n, found.seeds, found.failed) == (1, (0, 1), {})


def test_a_configuration_whose_every_seed_died_is_seen_with_n_0() -> None:
    runs = [done(planned("alive"), 0.5), dead(planned("dead")), dead(planned("dead", seed=1))]
    _, found = aggregate(runs, confidence=0.95)
    assert (found.arm, found.metric, found.n, found.mean) == ("dead", "test/top2_accuracy", 0, None)
    assert set(found.failed) == {0, 1}


def test_a_configuration_that_has_not_begun_has_no_aggregate() -> None:
    assert aggregate([(planned(), None)], confidence=0.95) == []


def test_an_undefined_metric_is_not_averaged() -> None:
    (found,) = aggregate([done(planned(), 0.5), done(planned(seed=1), math.nan)], confidence=0.95)
    assert (found.mean, found.n) == (0.5, 1)
    assert found.values == {0: 0.5, 1: None}


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_runs_does_not_matter(seed: int) -> None:
    draw = random.Random(seed)
    runs: list[Any] = [
        done(planned(arm, s, noise=n), draw.random()) for arm in "ab" for s in range(3) for n in (0, 0.1)
    ]
    runs.append(dead(planned("a", 9)))
    expected: list[Aggregate] = aggregate(runs, confidence=0.95)
    draw.shuffle(runs)
    assert aggregate(runs, confidence=0.95) == expected


def test_a_curve_is_aggregated_epoch_by_epoch() -> None:
    curves = {0: (0.1, 0.3), 1: (0.3, 0.5)}
    runs = [done(planned(seed=s), 0.5, epochs=(2, 4), curves={"val/top2_accuracy": c}) for s, c in curves.items()]
    (found,) = epoch_aggregates(runs, confidence=0.95)
    assert (found.metric, found.epochs, found.n) == ("val/top2_accuracy", (2, 4), (2, 2))
    assert found.mean == pytest.approx((0.2, 0.4))
    # Of two values the standard deviation is their distance over sqrt(2), and t(0.975; 1) = 12.7062.
    assert found.std == pytest.approx((0.2 / math.sqrt(2),) * 2)
    assert found.ci_high == pytest.approx((0.2 + 1.27062, 0.4 + 1.27062), abs=1e-5)


def test_epochs_that_not_every_seed_reached_say_so_in_n() -> None:
    runs = [
        done(planned(seed=0), 0.5, epochs=(1, 2), curves={"train/loss": (2.0, 1.0)}),
        done(planned(seed=1), 0.5, epochs=(1,), curves={"train/loss": (4.0,)}),
    ]
    (found,) = epoch_aggregates(runs, confidence=0.95)
    assert (found.mean, found.n) == ((3.0, 1.0), (2, 1))
    assert found.ci_low[1] is None


def test_curves_of_diverged_runs_and_undefined_values_are_left_out_of_bands() -> None:
    run = planned(seed=1)
    diverged = RunResult(key=run.key, status="diverged", epochs=(1,), curves={"train/loss": (99.0,)})
    finished = done(planned(), 0.5, epochs=(1, 2), curves={"train/loss": (2.0, math.nan)})
    (found,) = epoch_aggregates([finished, (run, diverged)], confidence=0.95)
    assert (found.mean, found.n) == ((2.0, None), (1, 0))


def test_where_a_pilot_decided_the_number_of_seeds_its_spread_makes_the_interval(study: Any, results: Any) -> None:
    """Of the confirmation alone: the search has its own number."""
    usual, staged = (aggregate(results(study), confidence=0.95, pilot=pilot) for pilot in (None, 3))
    for before, after in zip(usual, staged, strict=True):
        if before.stage == "search":
            assert after == before
            continue
        values = list(after.numbers.values())
        found = two_stage_interval(values, pilot=3, confidence=0.95)
        assert (after.ci_low, after.ci_high) == (found.ci_low, found.ci_high)
        assert (after.mean, after.std, after.n) == (before.mean, before.std, before.n)


def test_a_seed_that_diverged_counts_as_0_beside_the_mean_and_one_that_a_machine_failed_does_not(
    study: Any, results: Any, finished: Any, failed: Any
) -> None:
    def outcome(run: Any) -> Any:
        if run.stage == "search" or run.seed > 101:
            return finished(run)
        return failed(run) if run.seed == 100 else replace(failed(run), status="failed", cause="worker")

    for each in aggregate(results(study, outcome), confidence=0.95):
        if each.stage == "confirm":
            assert each.diverged == (100,)
            zeros = None if "size" in each.metric else pytest.approx(each.mean * 3 / 4)
            assert each.mean_failed_as_0 == zeros
