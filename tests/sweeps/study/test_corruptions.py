"""Whatever a study file holds, reading it gives a study or a StudyError, and never another exception."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema.protocols import Validator

from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.trainables.settings.yaml_text import dump_yaml, read_yaml

Read = Callable[..., Study]

ILLEGAL_EVERYWHERE = ("no such thing", -7, [[]], {"a": {"b": 1}}, float("nan"), float("inf"), {"uniform": [3, "x"]})
ANYTHING = (
    *ILLEGAL_EVERYWHERE,
    *(
        None,
        True,
        0,
        1,
        2.5,
        2**62,
        1e300,
        "",
        "full",
        "default_space",
        "avgk",
        [],
        [1],
        [2, 1],
        [None],
        ["avgk", {}],
        {},
    ),
    *({"choice": [1]}, {"int": [1, 3]}, {"log_uniform": [1e-3, 1]}, {"loss": "avgk"}, {"name": "circle"}),
    *({"choice": [[1], {}]}, {"int": [1, 2**62]}, {"default": 1}, {"training.epochs": {"int": [1, 2]}}),
)
ROUNDS = 200
OTHER = """\
study: other
data: {name: "package.module:data", root: /data, size: [1, 2], label_noise: 0.1}
model: {name: "package:model", depth: 3, deep: {a: 1}}
training:
  preset: noised_cifar100
  optimizer: null
  augment: {cutout: {int: [0, 8]}}
  keep_lr_per_example: true
  batch_size: {choice: [32, full], default: 32}
k: 2
arms:
  mild: {loss: avgk, alpha: default_space, k: 3, training.gamma: {uniform: [0.1, 1]}}
  focal: {loss: epr}
  ldam:
grid: {data.size: [[1], [2]], model.depth: [1, 2], training.augment.flip: [true, false]}
search: {trials: 3, seeds: [7]}
confirm: null
compare: {metrics: [test/top2_accuracy]}
resources: {gpus: 0.5, seeds_per_worker: auto}
"""
"""What the example does not have."""


def fields(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value below the top."""
    if path:
        yield path
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from fields(each, (*path, key))


def replaced(values: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at the path."""
    changed = copy.deepcopy(values)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return changed


def test_every_field_refuses_what_is_illegal_everywhere(read_text: Read, example: str) -> None:
    values = read_yaml(example)[0]
    corrupted = [(path, value) for path in fields(values) for value in ILLEGAL_EVERYWHERE]
    assert len(corrupted) > 300
    for path, value in corrupted:
        if path == ("about",) and isinstance(value, str):
            continue
        with pytest.raises(StudyError) as caught:
            read_text(dump_yaml(replaced(values, path, value)))
        assert all(line.startswith("study.yaml:") and line.endswith((".", "?")) for line in caught.value.errors), path


@pytest.mark.parametrize("kind", ["replaced", "renamed", "removed", "overridden"])
def test_a_random_change_of_a_field_gives_a_study_or_its_errors(read_text: Read, example: str, kind: str) -> None:
    values = read_yaml(example)[0]
    paths = list(fields(values))
    rng = random.Random(kind)  # a string seeds it alike in every process
    refused = 0
    for _ in range(ROUNDS):
        path, value = rng.choice(paths), rng.choice(ANYTHING)
        overrides = []
        if kind == "replaced":
            text = dump_yaml(replaced(values, path, value))
        elif kind == "overridden":
            text = example
            overrides = [f"{'.'.join(map(str, path))}={dump_yaml(value).strip()}"]
        else:
            text = dump_yaml(
                renamed(values, path, rng.choice(("x", "training.epochs", "")) if kind == "renamed" else None)
            )
        try:
            read_text(text, *overrides)
        except StudyError as error:
            refused += 1
            assert error.errors
    assert refused > ROUNDS / 10, "the changes are hardly ever wrong: the test has lost its teeth"


def renamed(values: Any, path: tuple[Any, ...], name: str | None) -> Any:
    """A copy with another key at the path, or without it."""
    changed = copy.deepcopy(values)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    value = parent.pop(path[-1])
    if name is not None and isinstance(parent, dict):
        parent[name] = value
    return changed


def test_a_random_change_of_a_character_gives_a_study_or_its_errors(read_text: Read, example: str) -> None:
    rng = random.Random(0)
    for _ in range(ROUNDS):
        place = rng.randrange(len(example))
        text = example[:place] + rng.choice("{}[]:,#&*!|>'\"%@`\t\n -0aé\x00") + example[place + rng.randrange(2) :]
        try:
            read_text(text)
        except StudyError as error:
            assert all(line.startswith("study.yaml:") for line in error.errors)


@pytest.mark.parametrize("kind", ["replaced", "renamed", "removed"])
@pytest.mark.parametrize("other", [False, True])
def test_whatever_is_read_validates_as_it_is_and_as_it_is_recorded(
    read_text: Read, validator: Validator, example: str, kind: str, other: bool
) -> None:
    values = read_yaml(OTHER if other else example)[0]
    paths = list(fields(values))
    rng = random.Random(kind)
    legal = [value for value in ANYTHING if not any(value is each for each in ILLEGAL_EVERYWHERE)]
    read = 0
    for _ in range(ROUNDS):
        path, value = rng.choice(paths), rng.choice(legal)
        if kind == "replaced":
            changed = replaced(values, path, value)
        else:
            name = rng.choice(("avgk", "focal", "lr", "seeds", "training.epochs")) if kind == "renamed" else None
            changed = renamed(values, path, name)
        try:
            study = read_text(dump_yaml(changed))
        except StudyError:
            continue
        read += 1
        for plain in (changed, read_yaml(study.text)[0]):
            assert [error.message for error in validator.iter_errors(plain)] == [], (path, value)
    assert read > ROUNDS / 20, "the changes are hardly ever legal: the test has lost its teeth"
