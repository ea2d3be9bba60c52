"""Problems are gathered while a configuration is checked, and told all at once."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from setsweep.trainables.settings.problems import ConfigError, Problem, Problems
from setsweep.trainables.settings.rules import flag, whole
from setsweep.trainables.settings.setting import Setting

SETTINGS = {"epochs": Setting(whole(1), 10), "test": Setting(flag(), True)}


def _messages(problems: Problems) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        problems.raise_any()
    return str(caught.value).splitlines()


def test_a_rule_follows_its_field_and_anything_else_a_colon() -> None:
    assert str(Problem("training.epochs", "must be >= 1, got 0.")) == "training.epochs must be >= 1, got 0."
    assert str(Problem("loss.name", "unknown loss 'avg_k'.")) == "loss.name: unknown loss 'avg_k'."


def test_an_error_from_another_process_says_what_it_said_there() -> None:
    error = ConfigError([Problem("k", "must be >= 1, got 0."), Problem("loss.name", "unknown loss 'avg_k'.")])
    there = pickle.loads(pickle.dumps(error))
    assert (str(there), there.problems) == (str(error), error.problems)


def test_where_nothing_was_found_nothing_is_raised() -> None:
    Problems().raise_any()


def test_all_that_was_found_is_told_once_and_in_its_order() -> None:
    problems = Problems()
    problems.add("b", "must be 1, got 2.")
    problems.add("a", "must be 1, got 2.")
    problems.add("b", "must be 1, got 2.")
    assert _messages(problems) == ["b must be 1, got 2.", "a must be 1, got 2."]


def test_what_a_part_of_the_check_finds_is_gathered_and_the_rest_goes_on() -> None:
    def refuse() -> int:
        raise ConfigError([Problem("k", "must be >= 1, got 0."), Problem("seed", "must be >= 0, got -1.")])

    problems = Problems()
    assert problems.gathered(refuse) is None
    assert problems.gathered(lambda: 3) == 3
    assert _messages(problems) == ["k must be >= 1, got 0.", "seed must be >= 0, got -1."]


def test_an_error_that_is_no_problem_of_the_configuration_is_passed_on() -> None:
    def fail() -> None:
        raise ValueError("of its own")

    with pytest.raises(ValueError, match=r"^of its own$"):
        Problems().gathered(fail)


@pytest.mark.parametrize(("section", "prefix"), [("training", "training."), ("", "")])
def test_the_legal_values_of_a_section_are_kept_and_the_others_told(section: str, prefix: str) -> None:
    problems = Problems()
    given: dict[str, Any] = {"epochs": 3.0, "test": 1, "epoch": 3}
    assert problems.values(section, given, SETTINGS) == {"epochs": 3}
    assert _messages(problems) == [
        f"{prefix}test must be true or false, got 1.",
        f"{prefix}epoch: unknown setting 'epoch'. Did you mean 'epochs'? Known: epochs, test.",
    ]
