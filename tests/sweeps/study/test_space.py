"""Search spaces as a study spells them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from setsweep.sweeps.study.space import Space, is_space, read_space
from setsweep.trainables.settings.rules import flag, real, whole
from setsweep.trainables.settings.setting import Setting

REAL = Setting(real(low=0), 1.0, search={"log_uniform": (0.1, 10.0)})
WHOLE = Setting(whole(1), 10)
FLAG = Setting(flag(), False)


def test_mappings_and_default_space_ask_for_a_search() -> None:
    assert [is_space(value) for value in ({"int": [1, 2]}, "default_space", 3, "sgd", [1, 2], None)] == [
        True, True, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "of", "expected"),
    [
        ({"uniform": [0, 1]}, REAL, Space(kind="uniform", low=0.0, high=1.0, default=1.0)),
        ({"log_uniform": [0.1, 10]}, REAL, Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)),
        ({"int": [1, 5.0]}, WHOLE, Space(kind="int", low=1, high=5, default=10)),
        ({"log_int": [1, 64], "default": 8}, WHOLE, Space(kind="log_int", low=1, high=64, default=8)),
        ({"choice": [3, 0.5]}, REAL, Space(kind="choice", choices=(3.0, 0.5), default=1.0)),
        ({"choice": [True, False]}, FLAG, Space(kind="choice", choices=(True, False), default=False)),
        ("default_space", REAL, Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)),
    ],
)
def test_a_space_has_typed_ends_and_a_default(value: Any, of: Setting, expected: Space) -> None:
    space = read_space(value, of, default=of.default)
    assert space == expected
    assert repr(space) == repr(expected)


@pytest.mark.parametrize(
    ("value", "of", "message"),
    [
        (
            {"log_uniforn": [0.1, 1]},
            REAL,
            "unknown search space 'log_uniforn'. Did you mean 'log_uniform'? "
            "Known: choice, default, int, log_int, log_uniform, uniform.",
        ),
        ({}, REAL, "must name one of uniform, log_uniform, int, log_int, choice, got {}."),
        (
            {"int": [1, 2], "choice": [1]},
            REAL,
            "must name one of uniform, log_uniform, int, log_int, choice, got {'int': [1, 2], 'choice': [1]}.",
        ),
        ({"uniform": 3}, REAL, "must be searched between two numbers [low, high], got 3."),
        ({"uniform": [0.1]}, REAL, "must be searched between two numbers [low, high], got [0.1]."),
        ({"uniform": ["a", 1]}, REAL, "must be searched between two numbers [low, high], got ['a', 1]."),
        ({"uniform": [0, math.inf]}, REAL, "must be searched between two numbers [low, high], got [0, inf]."),
        ({"uniform": [False, True]}, REAL, "must be searched between two numbers [low, high], got [False, True]."),
        ({"uniform": [10, 0.1]}, REAL, "must be searched with low < high, got [10, 0.1]."),
        ({"uniform": [1, 1]}, REAL, "must be searched with low < high, got [1, 1]."),
        ({"log_uniform": [0, 1]}, REAL, "must be searched with low > 0 on a log scale, got [0, 1]."),
        ({"uniform": [-1, 1]}, REAL, "must be >= 0, got -1."),
        ({"int": [1.5, 3]}, WHOLE, "must be searched between whole numbers, got [1.5, 3]."),
        ({"int": [0, 3]}, WHOLE, "must be >= 1, got 0."),
        (
            {"uniform": [1, 3]},
            WHOLE,
            "must be searched by int, log_int or choice, as it is a whole number, got 'uniform'.",
        ),
        ({"int": [0, 1]}, FLAG, "must be searched by choice, got 'int'."),
        ({"choice": []}, REAL, "must be a choice of one value or more, got []."),
        ({"choice": 3}, REAL, "must be a choice of one value or more, got 3."),
        ({"choice": [1, 1.0]}, REAL, "must be a choice of distinct values, got [1, 1.0]."),
        ({"choice": [1, -1]}, REAL, "must be >= 0, got -1."),
        ({"choice": [[1], [2]]}, REAL, "must be a choice of single values, got [[1], [2]]."),
        ({"uniform": [0, 1], "default": -1}, REAL, "must be >= 0, got -1."),
        ("default_space", WHOLE, "must be given its range, as it has none of its own, got 'default_space'."),
    ],
)
def test_a_space_that_breaks_a_rule_says_which(value: Any, of: Setting, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_space(value, of, default=of.default)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "default"),
    [
        ({"uniform": [2, 4]}, 3.0),
        ({"log_uniform": [4, 9]}, 6.0),
        ({"uniform": [0, 4]}, 1.0),  # the default itself lies within
        ({"choice": [7, 5]}, 7.0),
        ({"choice": [7, 1]}, 1.0),
        ({"int": [2, 5]}, 4.0),
    ],
)
def test_a_default_outside_its_range_can_give_way_to_the_middle(value: Any, default: float) -> None:
    assert read_space(value, REAL, default=1.0, default_in_range=True).default == default


def test_a_space_knows_what_it_contains() -> None:
    integers = Space(kind="int", low=1, high=3)
    assert [integers.contains(value) for value in (0, 1, 2, 2.5, 3, 4, "2", None, True)] == [
        False, True, True, False, True, False, False, False, False,
    ]  # fmt: skip
    assert integers.values() == (1, 2, 3)
    assert integers.size == 3
    assert Space(kind="uniform", low=0.0, high=1.0).size is None
    assert Space(kind="choice", choices=("full", 32)).contains("full")
    assert Space(kind="choice", choices=("full", 32)).values() == ("full", 32)
