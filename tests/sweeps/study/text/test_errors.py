"""How a study says that it cannot be run."""

from __future__ import annotations

import pytest

from setsweep.sweeps.study.text.errors import Location, StudyError, error_line


def test_a_line_has_place_field_and_rule() -> None:
    rule = "must be > 0, got 0."
    assert error_line(Location(14, "a.yaml"), ("arms", "avgk", "alpha"), rule) == f"a.yaml:14: arms.avgk.alpha: {rule}"
    assert error_line(Location(0, "--set k=0"), ("k",), rule) == f"--set k=0: k: {rule}"


def test_what_is_wrong_with_all_of_a_file_has_no_field() -> None:
    assert error_line(Location(1, "a.yaml"), (), "must be a mapping.") == "a.yaml:1: must be a mapping."


def test_every_reason_is_a_line_of_the_message_once() -> None:
    error = StudyError(["the first", "the second", "the first"])
    assert error.errors == ("the first", "the second")
    assert str(error) == "the first\nthe second"


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("must be > 0, got None.", "must be > 0, got null."),
        ("must be text, got True.", "must be text, got true."),
        (
            "must be a mapping, got [False, 'None', {'a': True}].",
            "must be a mapping, got [false, 'None', {'a': true}].",
        ),
        ("unknown loss 'None'. Known: None.", "unknown loss 'None'. Known: None."),
        ("""must be one, got "it's True".""", """must be one, got "it's True"."""),
        ("of a batch's must be true, got False.", "of a batch's must be true, got false."),
    ],
)
def test_values_are_told_as_yaml_has_them(rule: str, shown: str) -> None:
    assert error_line(Location(3, "a.yaml"), ("k",), rule) == f"a.yaml:3: k: {shown}"
