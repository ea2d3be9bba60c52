"""A report as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from setsweep.sweeps.reports.formats.json import text
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.study import Study

Outcome = Callable[[Any], Any]


def test_json_has_the_fields_that_are_promised(report: Report) -> None:
    plain = json.loads(text(report))
    promised = {
        "arm",
        "point",
        "params",
        "stage",
        "metric",
        "mean",
        "ci_low",
        "ci_high",
        "std",
        "n",
        "failed",
        "values",
    }
    assert all(promised <= aggregate.keys() for aggregate in plain["aggregates"])
    tested = {"arm", "baseline", "point", "metric", "difference", "ci_low", "ci_high", "p", "p_corrected", "n"}
    assert all(tested <= comparison.keys() for comparison in plain["comparisons"])
    of_the_primary = {"simultaneous_low", "simultaneous_high", "effect", "better", "detectable", "p_equivalent"}
    for comparison in plain["comparisons"]:
        assert (of_the_primary <= comparison.keys()) == (comparison["role"] == "primary")


def test_json_says_what_study_it_is_of_and_how_far_that_is(report: Report) -> None:
    plain = json.loads(text(report))
    lists = ("aggregates", "comparisons", "chosen", "failures", "search_intervals", "unusual", "spent")
    lists += ("divergences", "over_sets", "over_images", "saturated", "searches", "looks", "learning_rates")
    lists += ("published",)
    assert {name: value for name, value in plain.items() if name not in lists} == {
        "study": "fashion_losses",
        "about": "Which loss gives the best pairs?",
        "complete": True,
        "runs": {"planned": 46, "done": 46, "failed": 0, "waiting": 0},
        "unconfirmed": [],
        "confidence": 0.95,
        "correction": "holm",
        "baseline": "cross_entropy",
        "primary": "test/avg2_accuracy",
        "search_seeds": [0, 1],
        "confirm_seeds": [100, 101, 102, 103, 104],
    }


def test_json_of_a_study_that_has_not_begun_names_what_is_to_be_confirmed(make_study: Any) -> None:
    plain = json.loads(text(build_report(make_study(grid={}, search=None), [])))
    assert (plain["complete"], plain["search_seeds"]) == (False, [])
    assert plain["unconfirmed"] == [{"arm": arm, "point": {}} for arm in ("cross_entropy", "avgk", "noised")]


def test_json_gives_back_every_aggregate_to_the_last_bit(wounded: Report) -> None:
    plain = json.loads(text(wounded))["aggregates"]
    assert len(plain) == len(wounded.aggregates)
    for read, aggregate in zip(plain, wounded.aggregates, strict=True):
        seeds = {name: {int(seed): value for seed, value in read[name].items()} for name in ("values", "failed")}
        own = {name: value for name, value in vars(aggregate).items() if name != "candidate"}
        tuples = {name: tuple(read[name]) for name in ("seeds", "diverged")}
        assert own | aggregate.candidate.plain() == {**read, **seeds, **tuples}


def test_json_holds_the_search_and_the_confirmation(report: Report) -> None:
    assert {a["stage"] for a in json.loads(text(report))["aggregates"]} == {"search", "confirm"}


def test_json_names_the_chosen_and_every_failure_with_its_whole_reason(wounded: Report) -> None:
    plain = json.loads(text(wounded))
    assert plain["chosen"][-1] == {
        "arm": "noised",
        "point": {"data.label_noise": 0.2},
        "params": {"num_samples": 3},
        "seeds": [100, 101, 102, 103, 104],
        "done": 4,
        "failed": 1,
    }
    assert plain["failures"][-1] == {
        "arm": "noised",
        "point": {"data.label_noise": 0.2},
        "stage": "confirm",
        "trial": None,
        "seed": 101,
        "reason": "CUDA | out_of_memory\nand a trace",
        "kind": "diverged",
    }


def test_json_has_the_interval_of_each_trial_and_what_each_arm_was_given(wounded: Report) -> None:
    plain = json.loads(text(wounded))
    assert [(each["arm"], each["trial"]) for each in plain["search_intervals"]] == [("avgk", n) for n in range(4)] * 2
    assert {(each["arm"], each["configurations"]) for each in plain["spent"]} == {
        ("cross_entropy", 1),
        ("avgk", 4),
        ("noised", 1),
    }
    # A seed of 5 at each of 2 points; a seed of one of 4 trials of 2 at each of 2 points.
    assert [(each["arm"], each["stage"], each["diverged"], each["runs"]) for each in plain["divergences"]] == [
        ("avgk", "search", 2, 16),
        ("noised", "confirm", 2, 10),
    ]


def test_json_has_null_where_a_number_is_undefined(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/top2_accuracy_few": math.nan})

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    plain = json.loads(text(build_report(study, results(study, outcome))), parse_constant=refuse)
    few = [a for a in plain["aggregates"] if a["metric"] == "test/top2_accuracy_few"]
    assert {a["mean"] for a in few} == {None}


def test_a_hyperparameter_that_is_no_number_is_null(make_study: Any, results: Any) -> None:
    """No study can ask for one, but a report must be read by any program whatever it is given."""
    study = make_study(grid={"data.sigma": (math.inf,)})
    plain = json.loads(text(build_report(study, results(study))))
    assert {json.dumps(a["point"]) for a in plain["aggregates"]} == {'{"data.sigma": null}'}
