"""A configuration whatever the seed, and the look at its test numbers: equal where the same is meant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.looks import Look, look_at
from setsweep.sweeps.planning.planned_run import PlannedRun
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


def test_more_seeds_are_another_look_at_the_same_choice() -> None:
    five, ten = look_at(_runs(1.0, 5)), look_at(_runs(1.0, 10))
    assert five.choice == ten.choice
    assert (five.n, ten.n) == (5, 10)
    assert five != ten


def test_another_value_is_another_choice() -> None:
    assert look_at(_runs(1.0, 5)).choice != look_at(_runs(2.0, 5)).choice


def test_a_look_comes_back_from_the_journal_as_it_was() -> None:
    look = look_at(_runs(1.0, 5))
    assert Look.from_dict(json.loads(json.dumps(look.to_dict()))) == look
