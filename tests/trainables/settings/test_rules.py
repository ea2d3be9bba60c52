"""Rules take what a file holds, give it back in its own type, or say what it must be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from setsweep.losses.values import Number
from setsweep.trainables.settings.rules import (
    Rule,
    anything,
    flag,
    listed,
    number,
    one_of,
    real,
    share_or_whole,
    spelled,
    text,
    whole,
)

SIZE = whole(1, besides=("full",))
SHARE = real(low=0, below=1, besides=(None,))
NAME = one_of("sgd", "adam", None)
RATES = listed(real(above=0), ascending=True)
PAIR = listed(whole(0), length=2)
CODE = spelled(r"[a-z]{2}", "two letters")


@pytest.mark.parametrize(
    ("rule", "given", "kept"),
    [
        (SIZE, 3, 3),
        (SIZE, 3.0, 3),
        (SIZE, "1e2", 100),  # as YAML 1.1 reads 1e2
        (SIZE, "full", "full"),
        (SHARE, 0, 0.0),
        (SHARE, 0.999, 0.999),
        (SHARE, None, None),
        (whole(1, high=9), 9, 9),
        (real(), -1e300, -1e300),
        (NAME, "adam", "adam"),
        (NAME, None, None),
        (flag(), False, False),
        (text(), "", ""),
        (CODE, "ab", "ab"),
        (anything(), {"a": [1, None]}, {"a": [1, None]}),
        (RATES, [0.1, 1], (0.1, 1.0)),
        (RATES, (), ()),
        (PAIR, [1, 1.0], (1, 1)),
        (share_or_whole(), 0, 0.0),
        (share_or_whole(), 0.25, 0.25),
        (share_or_whole(), 3, 3.0),
        (share_or_whole(), "auto", "auto"),
    ],
)
def test_a_legal_value_comes_in_its_own_type(rule: Rule, given: Any, kept: Any) -> None:
    assert repr(rule.check(given)) == repr(kept)


@pytest.mark.parametrize(
    ("rule", "given", "message"),
    [
        (SIZE, 0, "must be >= 1 or full, got 0."),
        (SIZE, 2.5, "must be a whole number >= 1 or full, got 2.5."),
        (SIZE, True, "must be a whole number >= 1 or full, got True."),
        (SIZE, "all", "must be a whole number >= 1 or full, got 'all'."),
        (SIZE, None, "must be a whole number >= 1 or full, got None."),
        (SHARE, 1, "must be >= 0 and < 1 or null, got 1."),
        (SHARE, math.nan, "must be a number >= 0 and < 1 or null, got nan."),
        (SHARE, [], "must be a number >= 0 and < 1 or null, got []."),
        (whole(1, high=9, high_name="num_classes - 1"), 10, "must be between 1 and num_classes - 1 = 9, got 10."),
        (real(above=0, high=1), 0, "must be > 0 and <= 1, got 0."),
        (NAME, "adm", "must be one of sgd, adam, null, got 'adm'. Did you mean 'adam'?"),
        (NAME, 3, "must be one of sgd, adam, null, got 3."),
        (NAME, ["sgd"], "must be one of sgd, adam, null, got ['sgd']. Did you mean 'sgd'?"),
        (one_of("sgd"), None, "must be one of sgd, got None."),
        (flag(), 1, "must be true or false, got 1."),
        (text(), 3, "must be text, got 3."),
        (CODE, "abc", "must be two letters, got 'abc'."),
        (CODE, 12, "must be two letters, got 12."),
        (RATES, 0.1, "must be a list, got 0.1."),
        (RATES, "0.1", "must be a list, got '0.1'."),
        (RATES, [0.1, -1], "must be > 0, got -1."),
        (RATES, [0.1, 0.1], "must be ascending, got [0.1, 0.1]."),
        (PAIR, [1], "must be a list of 2, got [1]."),
        (share_or_whole(), 1.5, "must be <= 1 or whole or auto, got 1.5."),
        (share_or_whole(), -1, "must be >= 0 or auto, got -1."),
        (share_or_whole(), "some", "must be a number >= 0 or auto, got 'some'."),
    ],
)
def test_another_value_is_refused_with_the_rule_and_itself(rule: Rule, given: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        rule.check(given)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("rule", "kind", "words"),
    [
        (SIZE, "whole", "a whole number >= 1 or full"),
        (SHARE, "real", "a number >= 0 and < 1 or null"),
        (number(Number()), "real", "a number"),
        (NAME, "other", "one of sgd, adam, null"),
        (flag(), "other", "true or false"),
        (text(), "other", "text"),
        (CODE, "other", "two letters"),
        (anything(), "any", "plain data"),
        (RATES, "other", "an ascending list, each a number > 0"),
        (PAIR, "other", "a list of 2, each a whole number >= 0"),
        (share_or_whole(), "real", "a share of one, a whole number, or auto"),
    ],
)
def test_a_rule_says_what_it_is_in_words_and_whether_its_values_lie_in_ranges(
    rule: Rule, kind: str, words: str
) -> None:
    assert (rule.type, rule.words) == (kind, words)


@pytest.mark.parametrize(
    ("rule", "schema"),
    [
        (whole(1), {"type": "integer", "minimum": 1}),
        (real(above=0, high=1), {"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
        (SIZE, {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["full"]}]}),
        (SHARE, {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, {"enum": [None]}]}),
        (NAME, {"enum": ["sgd", "adam", None]}),
        (flag(), {"type": "boolean"}),
        (text(), {"type": "string"}),
        (CODE, {"type": "string", "pattern": "^[a-z]{2}$"}),
        (anything(), {}),
        (RATES, {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "uniqueItems": True}),
        (PAIR, {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}),
        (
            share_or_whole(),
            {
                "anyOf": [
                    {"type": "number", "minimum": 0, "maximum": 1},
                    {"type": "integer", "minimum": 0},
                    {"enum": ["auto"]},
                ]
            },
        ),
    ],
)
def test_a_rule_is_a_json_schema_too(rule: Rule, schema: Any) -> None:
    assert rule.schema == schema
