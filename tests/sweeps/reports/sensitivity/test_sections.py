"""What a sensitivity report says, as its readers read it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from setsweep.sweeps.reports.sensitivity.sections import blocks
from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity
from setsweep.sweeps.reports.tables.report_tables import Table
from setsweep.trainables.config.run_result import RunResult


def tables(report: Any, **options: Any) -> dict[str, list[list[str]]]:
    found = blocks(build_sensitivity(report, **options))
    return {each.title: [[c.text for c in row] for row in each.rows] for each in found if isinstance(each, Table)}


def sentences(report: Any, **options: Any) -> str:
    return "\n".join(each for each in blocks(build_sensitivity(report, **options)) if isinstance(each, str))


def test_the_curve_has_a_row_a_value_with_its_bands_and_marks(reported: Any, grid: Any) -> None:
    rows = tables(reported(**grid))["avgk: alpha"]
    assert [row[0] for row in rows] == ["0.1", "0.178", "0.316", "0.562", "1", "1.78", "3.16", "5.62", "10"]
    assert all(row[2] == "5" and " to " in row[3] and " to " in row[4] for row in rows)
    marks = {row[0]: row[5] for row in rows}
    assert "default" in marks["1"]
    assert [value for value in marks if "best" in marks[value]] == ["1", "1.78", "3.16"]  # flat from 1 to 4
    assert marks["0.1"] == "-"


def test_the_plateau_is_a_sentence_on_test_and_on_validation(reported: Any, grid: Any) -> None:
    said = sentences(reported(**grid))
    # log10(3.16 / 1) = 0.5 decades of 2.
    plateau = (
        "avgk: alpha 1 to 3.16 can't be told from the best (95 %): 0.5 decades, 25 % of the range; default inside."
    )
    assert f"{plateau}\nOn validation: the same." in said


def test_a_best_value_at_the_edge_is_warned_of(reported: Any) -> None:
    said = sentences(reported(sensitivity={"avgk.alpha": [0.1, 0.3, 1], "seeds": 5}))
    assert "the best is the highest value tried: better ones may lie beyond" in said


def test_shares_add_up_and_name_their_sources(reported: Any) -> None:
    report = reported(sensitivity={"avgk.alpha": 5, "training.batch_size": [16, 64, 256], "seeds": 5})
    rows = tables(report)["avgk: what makes scores differ"]
    names = ["alpha", "training.batch_size", "alpha x training.batch_size", "seed", "configuration x seed"]
    assert [row[0] for row in rows] == names
    assert sum(int(row[1].removesuffix(" %")) for row in rows) == pytest.approx(100, abs=2)
    assert rows[0][3] == "<0.001"


def test_of_two_hyperparameters_the_combinations_as_good_as_the_best_are_named(reported: Any) -> None:
    report = reported(sensitivity={"avgk.alpha": [0.1, 2, 20], "training.batch_size": [16, 64], "seeds": 5})
    assert (
        "avgk: of 6 combinations 1 can't be told from the best, alpha = 2, training.batch_size = 64 (95 %)."
        in sentences(report)
    )


def test_a_hyperparameter_without_effect_is_said_to_have_none_to_be_seen(reported: Any) -> None:
    report = reported(sensitivity={"avgk.y_in_negatives": [True, False], "seeds": 5})
    said = sentences(report)
    assert "no effect of y_in_negatives is seen" in said
    assert "y_in_negatives False to True can't be told from the best" in said.replace("True to False", "False to True")


def test_over_points_the_regret_of_each_choice_elsewhere_is_told(reported: Any) -> None:
    def outcome(run: Any) -> RunResult:
        best = 0.1 if run.point["data.label_noise"] else 10
        value = 0.9 - 0.05 * (run.config.loss.get("alpha") != best) + run.seed / 1000
        return RunResult(
            key=run.key,
            status="done",
            metrics=dict.fromkeys(["val/avg2_accuracy", "test/avg2_accuracy"], value + hash(run.key) % 7 / 1e4),
        )

    report = reported(outcome, grid={"data.label_noise": [0.0, 0.2]}, sensitivity={"avgk.alpha": [0.1, 10], "seeds": 4})
    (rows,) = [rows for title, rows in tables(report).items() if "serve everywhere" in title]
    assert [row[1] for row in rows] == ["alpha = 10", "alpha = 0.1"]
    assert rows[0][2].startswith("0.00")
    assert 4.8 < float(rows[0][3].split()[0]) < 5.2
    assert "avgk: no value serves everywhere" in sentences(report)


def test_one_value_that_serves_everywhere_is_named(reported: Any) -> None:
    report = reported(grid={"data.label_noise": [0.0, 0.2]}, sensitivity={"avgk.alpha": [0.1, 2], "seeds": 4})
    assert "avgk: everywhere as good as the best, as far as can be told: alpha = 2." in sentences(report)


def test_set_sizes_are_places_too(reported: Any) -> None:
    def outcome(run: Any) -> RunResult:
        def value(k: int) -> float:
            return 0.9 - 0.05 * (run.config.loss.get("alpha") != {1: 0.1, 2: 10}[k]) + run.seed / 1000

        metrics = {f"{split}/avg{k}_accuracy": value(k) for split in ("val", "test") for k in (1, 2)}
        return RunResult(key=run.key, status="done", metrics=metrics)

    report = reported(outcome, k=[1, 2], sensitivity={"avgk.alpha": [0.1, 10], "seeds": 4})
    (rows,) = [rows for title, rows in tables(report).items() if "serve everywhere" in title]
    # The other alpha is 5 points worse with every seed, so that no interval can be formed.
    assert rows == [["k = 1", "alpha = 0.1", "0.00", "5.00"], ["k = 2", "alpha = 10", "5.00", "0.00"]]


def test_a_cliff_is_told_with_its_rates(reported: Any) -> None:
    def outcome(run: Any) -> RunResult:
        if run.config.loss.get("alpha", 1.0) < 0.2:
            return RunResult(key=run.key, status="diverged", reason="training loss must be finite, got nan in epoch 1.")
        return RunResult(
            key=run.key,
            status="done",
            metrics={"val/avg2_accuracy": 0.9 + run.seed / 1e3, "test/avg2_accuracy": 0.9 + hash(run.key) % 9 / 1e3},
        )

    report = reported(outcome, sensitivity={"avgk.alpha": 9, "seeds": 5})
    said = sentences(report)
    # Two of nine values fail with all of 5 seeds, 10 runs; the other 35 never.
    assert (
        "runs fail on the low side of alpha: a cliff between 0.178 and 0.316 (p = 0.001): 10 of 10 fail there" in said
    )
    assert "0 of 35 elsewhere" in said
    assert "5 of 5 runs failed" in str(tables(report)["avgk: alpha"][0])


def test_what_is_still_to_come_is_told(reported: Any, grid: Any) -> None:
    # 9 x 5 = 45 runs; all of the first 30 runs are of avgk, as it has most left, and its confirmation's are of alpha 1.
    said = sentences(reported(most=30, **grid)).splitlines()
    assert said[0] == "15 runs of the sensitivity study are waiting: what follows is of those that are done."
    assert len(tables(reported(most=30, **grid))["avgk: alpha"]) == 9


def test_the_points_of_a_search_say_what_they_can_and_that_they_can_not_tell_the_rest(reported: Any) -> None:
    ranges = {"alpha": {"log_uniform": [0.1, 10]}, "training.batch_size": {"int": [16, 256]}, "k": 2}
    report = reported(arms={"avgk": ranges}, search={"trials": 40, "seeds": 2, "sampler": "random"}, compare={})
    said = sentences(report)
    assert "avgk: told from a hyperparameter that does nothing: alpha" in said
    assert "differ in all hyperparameters at once, so they give no curve and no plateau" in said
    assert "sensitivity: {avgk.alpha: 9, training.batch_size: 9, seeds: 5}" in said
    shown = tables(report)
    assert [row[0] for row in shown["avgk: what makes scores differ, by 40 configurations"]][2].startswith("dummy")
    tuned = shown["avgk: tuning curve of 39 random trials"]  # the default is no random trial
    assert [row[0] for row in tuned] == ["1", "2", "3", "5", "8", "12", "20", "30"]
    assert tuned[-1][2].endswith("and more")  # beyond about n / 9 the band has no upper end


def test_above_a_thousand_trials_it_is_told_what_decides_who_is_among_the_best(reported: Any) -> None:
    ranges = {"alpha": {"log_uniform": [0.1, 10]}, "training.batch_size": {"int": [60, 70]}, "k": 2}
    report = reported(arms={"avgk": ranges}, search={"trials": 1001, "seeds": 1, "sampler": "random"}, compare={})
    rows = tables(report)["avgk: what decides whether one of 1001 trials is among the best 10 %"]
    assert [row[0] for row in rows] == ["alpha", "training.batch_size", "dummy, which does nothing"]
    assert float(rows[0][1].split()[0]) > 5 > float(rows[1][1].split()[0])


def test_a_tuning_curve_of_a_search_that_learns_is_refused_with_the_samplers_that_serve(reported: Any) -> None:
    arms = {"avgk": {"alpha": {"log_uniform": [0.1, 10]}, "k": 2}}
    said = sentences(reported(arms=arms, search={"trials": 6, "seeds": 1, "sampler": "tpe"}, compare={}))
    assert "No tuning curve of avgk: sampler must be random or qmc" in said
    assert "no shares of variance: shares of a search must rest on 12 configurations at least, got 6." in said


def test_a_search_of_one_hyperparameter_at_random_has_a_curve_on_validation(reported: Any) -> None:
    arms = {"avgk": {"alpha": {"choice": [0.1, 2, 4]}, "k": 2}}
    report = reported(arms=arms, search={"trials": 3, "seeds": 4, "sampler": "grid"}, compare={})
    assert [row[0] for row in tables(report)["avgk: alpha"]] == ["0.1", "2", "4"]
    assert "avgk: alpha 2 to 4 can't be told from the best" in sentences(report)


def test_computed_twice_it_is_equal(reported: Any, grid: Any) -> None:
    first, second = ([*map(str, blocks(build_sensitivity(reported(**grid))))] for _ in range(2))
    assert first == second


def test_a_mean_over_the_other_hyperparameter_is_missing_where_one_of_its_runs_is(reported: Any) -> None:
    # Without alpha 10 at batch size 64, which diverged on seed 0, the mean of that seed would be of another mixture.
    def outcome(run: Any) -> RunResult:
        if (run.config.loss.get("alpha"), run.config.training.batch_size, run.seed) == (10, 64, 0):
            return RunResult(key=run.key, status="diverged", reason="training loss must be finite, got nan in epoch 1.")
        value = 0.9 if run.config.training.batch_size == 64 else 0.5
        return RunResult(key=run.key, status="done", metrics={f"{s}/avg2_accuracy": value for s in ("val", "test")})

    report = reported(outcome, sensitivity={"avgk.alpha": [1, 10], "training.batch_size": [16, 64], "seeds": 3})
    rows = tables(report)["avgk: alpha, mean over training.batch_size"]
    assert [(row[1].split()[0], row[2]) for row in rows] == [("70.00", "3"), ("70.00", "2")]


def test_runs_whose_sets_are_larger_than_asked_count_as_failed_however_accurate(reported: Any) -> None:
    def outcome(run: Any) -> RunResult:
        large = run.config.loss.get("alpha") == 10 and run.seed < 2
        value = 0.95 if large else 0.5 + run.config.loss.get("alpha", 1) / 100 + run.seed / 1000
        metrics = {f"{split}/{rule}2_accuracy": value for split in ("val", "test") for rule in ("avg", "top")}
        sizes = {f"{split}/avg2_set_size": 8.0 if large else 2.1 for split in ("val", "test")}
        return RunResult(key=run.key, status="done", metrics=metrics | sizes)

    report = reported(outcome, sensitivity={"avgk.alpha": [1, 3, 10], "seeds": 4})
    rows = tables(report)["avgk: alpha"]
    assert [row[2] for row in rows] == ["4", "4", "2"]
    assert "2 of 4 runs failed" in rows[2][5]
    said = sentences(report)
    assert "avgk: 2 runs count as failed, as their sets hold more than 1.2 x 2 labels on average" in said
    assert "2 runs count" not in sentences(report, metric="test/top2_accuracy")


def test_hyperparameters_that_depend_on_each_other_are_told(reported: Any) -> None:
    def outcome(run: Any) -> RunResult:
        same = (run.config.loss.get("alpha") == 10) == (run.config.training.batch_size == 64)
        value = 0.6 + 0.1 * same + random.Random(run.key).random() / 100
        return RunResult(key=run.key, status="done", metrics={f"{s}/avg2_accuracy": value for s in ("val", "test")})

    def varied(seeds: int) -> dict[str, Any]:
        return {"avgk.alpha": [1, 10], "training.batch_size": [16, 64], "seeds": seeds}

    said = sentences(reported(outcome, sensitivity=varied(4)))
    assert "avgk: alpha and training.batch_size depend on each other (100 % of the variance, p < 0.001)" in said
    assert "depend on each other" not in sentences(reported(sensitivity=varied(2)))
