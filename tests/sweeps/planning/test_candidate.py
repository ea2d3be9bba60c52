"""A configuration whatever the seed, and the look at its test numbers: equal where the same is meant."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.looks import Look, look_at
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.complete import complete_config

FIELDS: dict[str, Any] = {
    "arm": "avgk",
    "point": {"data.label_noise": 0.2},
    "stage": "search",
    "trial": 3,
    "params": {"alpha": 1.0},
}
PLAIN = {"data": {"name": "digits"}, "model": {"name": "linear"}, "k": [2], "seed": 0}


def _runs(alpha: float, seeds: int) -> list[PlannedRun]:
    candidate = Candidate(**{**FIELDS, "stage": "confirm", "trial": None})
    config = complete_config({**PLAIN, "loss": {"name": "avgk", "alpha": alpha}})
    return [PlannedRun(candidate=candidate, config=config.with_seed(seed)) for seed in range(seeds)]


@pytest.fixture
def study(make_study: Callable[..., Study]) -> Study:
    return make_study(compare=Compare(baseline="cross_entropy", metrics=("test/top2_accuracy",)))


def test_the_same_configuration_is_one_key_whoever_made_it() -> None:
    again = Candidate(**{**FIELDS, "point": dict(FIELDS["point"])})
    assert {Candidate(**FIELDS): "one"}[again] == "one"


@pytest.mark.parametrize(
    ("field", "other"), [("arm", "ldam"), ("point", {}), ("stage", "confirm"), ("trial", 4), ("params", {"alpha": 2.0})]
)
def test_another_field_is_another_candidate(field: str, other: Any) -> None:
    assert Candidate(**{**FIELDS, field: other}) != Candidate(**FIELDS)


def test_a_run_has_the_fields_of_its_candidate_as_its_own() -> None:
    run = _runs(1.0, 1)[0]
    assert (run.arm, run.stage, run.trial) == ("avgk", "confirm", None)
    assert run.params is run.candidate.params
    assert run.point == {"data.label_noise": 0.2}


def test_plain_fields_are_what_json_holds() -> None:
    assert json.loads(json.dumps(Candidate(**FIELDS).plain())) == FIELDS


def test_more_seeds_are_another_look_at_the_same_choice(study: Study) -> None:
    five, ten = look_at(_runs(1.0, 5), study), look_at(_runs(1.0, 10), study)
    assert five.choice == ten.choice
    assert (five.n, ten.n) == (5, 10)
    assert five != ten


def test_another_value_is_another_choice(study: Study) -> None:
    assert look_at(_runs(1.0, 5), study).choice != look_at(_runs(2.0, 5), study).choice


def test_a_look_comes_back_from_the_journal_as_it_was(study: Study) -> None:
    look = look_at(_runs(1.0, 5), study)
    assert Look.from_dict(json.loads(json.dumps(look.to_dict()))) == look


def test_a_look_knows_what_was_compared_and_what_first(study: Study) -> None:
    look = look_at(_runs(1.0, 5), study)
    assert (look.metrics, look.primary) == (("test/top2_accuracy",), "test/top2_accuracy")
    assert look != look_at(_runs(1.0, 5), replace(study, compare=Compare()))


def test_a_look_of_before_is_read_without_what_was_compared() -> None:
    plain = {"arm": "avgk", "point": {}, "n": 5, "choice": "c0ffee"}
    assert Look.from_dict(plain) == Look("avgk", {}, 5, "c0ffee")
    assert Look.from_dict(plain).to_dict() == plain
