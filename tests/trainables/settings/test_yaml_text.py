"""YAML as plain data with lines."""

from __future__ import annotations

import math

import pytest
import yaml

from setsweep.trainables.settings.yaml_text import YamlError, dump_yaml, read_yaml


def value_of(text: str) -> object:
    return read_yaml(text)[0]


def error_of(text: str) -> str:
    with pytest.raises(YamlError) as caught:
        read_yaml(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        ("-2.5e+2", -250.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("10_000", 10000),
        ("010", 10),
        ("-.inf", -math.inf),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
    ],
)
def test_numbers_truth_values_and_null_are_what_people_mean(text: str, expected: object) -> None:
    assert value_of(text) == expected
    assert type(value_of(text)) is type(expected)


def test_nan_is_a_number() -> None:
    assert math.isnan(value_of(".nan"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["on", "off", "yes", "no", "y", "2024-01-01", "12:30:00", "1e", "0x1f", "'1'", "<<", "="]
)
def test_other_plain_scalars_are_text(text: str) -> None:
    assert value_of(text) == text.strip("'")


def test_keys_are_text_whatever_they_look_like() -> None:
    assert value_of("{on: 1, 2: 3, null: 4, true: 5}") == {"on": 1, "2": 3, "null": 4, "true": 5}


def test_every_value_knows_its_line() -> None:
    _, lines = read_yaml("a: 1\nb:\n  c: [2,\n    3]\n  d:\n    - 4\n")
    assert lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", "c"): 3,
        ("b", "c", 0): 3,
        ("b", "c", 1): 4,
        ("b", "d"): 5,
        ("b", "d", 0): 6,
    }


def test_aliases_are_written_out() -> None:
    assert value_of("a: &x {b: [1]}\nc: *x\n") == {"a": {"b": [1]}, "c": {"b": [1]}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "line 2: a: must be given once, got it in line 1 as well."),
        ("x:\n  a: 1\n  b: 1\n  a: 2\n", "line 4: x.a: must be given once, got it in line 2 as well."),
        ("a: [1\nb: 2\n", "line 2: must have ',' or ']' here, got ':'."),
        ("a: 1\n- 1\n", "line 2: must be NAME: VALUE as the lines before, got an item of a list."),
        ("- 1\nb: 2\n", "line 2: must be an item of the list as the lines before, got NAME: VALUE."),
        ("a: 'x' y\n", "line 1: must end where its quotes or brackets end, got more after them."),
        (" a: 1\nb: 2\n", "line 2: must be indented as the lines before, got fewer spaces."),
        ("a: *x\n", "line 1: must be YAML, got found undefined alias 'x'."),
        ("a: 1\n---\nb: 2\n", "line 2: must be YAML, got but found another document."),
        ("a: \x01\n", "line 1: must be YAML, got the character '\\x01'."),
        ("a: 1\n? [b]\n: 2\n", "line 2: must have text for its keys, got a list or a mapping."),
        ("a: 99999999999999999999\n", "line 1: a: must be a number of 64 bits, got '99999999999999999999'."),
        ("a: !!int x\n", "line 1: a: must be of the kind that its tag says, int, got 'x'."),
        ("a: !!timestamp 2024-01-01\n", "line 1: a: tags are not read, got '!!timestamp'."),
        ("a: !mine 1\n", "line 1: a: tags are not read, got '!mine'."),
        (
            "\na: !!python/object/apply:os.system [echo]\n",
            "line 2: a: tags that run code are not read, got '!!python/object/apply:os.system'.",
        ),
        (
            "!!python/name:os.system x: 1\n",
            "line 1: tags that run code are not read, got '!!python/name:os.system'.",
        ),
        ("a: &x [*x]\n", "line 1: must not be nested so deeply, or hold itself."),
        ("[" * 5000, "line 1: must not be nested so deeply, or hold itself."),
    ],
)
def test_what_is_no_plain_data_is_refused_with_its_line(text: str, message: str) -> None:
    assert error_of(text) == message


def test_aliases_cannot_multiply_without_end() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 9):
        bomb += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n"
    assert "must hold at most 20000 values, aliases written out, got more." in error_of(bomb)


@pytest.mark.parametrize(
    "value",
    [
        {"study": "on", "k": [1, 2], "x": 1e-5, "y": {"z": None, "t": True, "u": "true", "v": "1e-3", "w": "010"}},
        {"about": "Zürich: a – b # c", "empty": {}, "none": [], "text": "line\nline"},
        [0.1, 1e300, -3, 2**62, "12:30", "2024-01-01", "null", "", " "],
    ],
)
def test_dumped_values_read_back_as_themselves_here_and_by_pyyaml(value: object) -> None:
    text = dump_yaml(value)
    assert value_of(text) == value
    assert yaml.safe_load(text) == value


def test_equal_parts_are_dumped_in_full() -> None:
    part = [1, 2]
    assert "&" not in dump_yaml({"a": part, "b": part})
