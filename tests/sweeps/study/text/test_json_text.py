"""JSON that people can read by lines and every reader takes."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from setsweep.sweeps.study.text.json_text import json_text


def test_entries_have_a_line_each_and_what_is_in_them_is_in_that_line() -> None:
    plain = {"study": "a", "runs": {"done": 1, "left": 2}, "rows": [{"arm": "é", "values": [0.5, 1]}, {}], "none": []}

    assert json_text(plain) == (
        """{
  "study": "a",
  "runs": {
    "done": 1,
    "left": 2
  },
  "rows": [
    {"arm": "é", "values": [0.5, 1]},
    {}
  ],
  "none": []
}
"""
    )
    assert json.loads(json_text(plain)) == plain


def test_a_list_has_a_line_for_each_entry() -> None:
    assert json_text([{"a": 1}, {"a": 2}]) == '[\n  {"a": 1},\n  {"a": 2}\n]\n'


def test_numbers_that_are_none_are_null_and_keys_are_text() -> None:
    plain = {"a": float("nan"), "b": [{"c": float("inf"), 3: MappingProxyType({4: -float("inf")})}], 5: (1, 2)}

    assert json.loads(json_text(plain)) == {"a": None, "b": [{"c": None, "3": {"4": None}}], "5": [1, 2]}


@pytest.mark.parametrize("plain", ["a", 1, None, [], {}])
def test_what_holds_nothing_is_a_line(plain: object) -> None:
    assert json_text(plain) == json.dumps(plain) + "\n"
