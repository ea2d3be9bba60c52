"""What has changed between two studies of one name, and what changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from setsweep.sweeps.study.difference import describe_difference
from setsweep.sweeps.study.study import Study

Read = Callable[..., Study]


@pytest.mark.parametrize(
    "override",
    [
        "about=another",
        "arms.avgk.alpha=2.0",
        "arms.topk_grouping={}",
        "grid.data.label_noise=[0.0, 0.1, 0.2]",
        "search.trials=40",
        "confirm.seeds=10",
        "compare.confidence=0.9",
        "resources.cpus=2",
        "data.root=/data",
        "training.gamma=0.1",
        "data.label_noise=0",
    ],
)
def test_more_of_the_same_keeps_the_protocol(read_text: Read, example: str, override: str) -> None:
    assert describe_difference(read_text(example).protocol(), read_text(example, override).protocol()) == []


@pytest.mark.parametrize(
    ("override", "difference"),
    [
        ("training.epochs=9", "training.epochs: 10 before, 9 now"),
        ("training.optimizer.lr=0.1", "training.optimizer.lr: 0.05 before, 0.1 now"),
        ("model.width=16", "model.width: 32 before, 16 now"),
        ("data.label_noise=0.1", "data.label_noise: 0.0 before, 0.1 now"),
        ("k=2", "k: [2, 3] before, [2] now"),
        ("search.sampler=random", 'search.sampler: "tpe" before, "random" now'),
        ("search.seeds=1", "search.seeds: [1000, 1001] before, [1000] now"),
        ("search.batch=2", "search.batch: 4 before, 2 now"),
        (
            "search.objective=val/top2_accuracy",
            'search.objective: "val/avg2_accuracy" before, "val/top2_accuracy" now',
        ),
        ("training.gamma={uniform: [0.1, 1]}", "training.gamma: 0.1 before, nothing now"),
    ],
)
def test_a_change_of_what_results_mean_is_described(
    read_text: Read, example: str, override: str, difference: str
) -> None:
    assert describe_difference(read_text(example).protocol(), read_text(example, override).protocol()) == [difference]


def test_a_protocol_that_was_stored_is_the_same(read_text: Read, example: str) -> None:
    study = read_text(example)
    assert describe_difference(json.loads(json.dumps(study.protocol())), study.protocol()) == []


def test_a_mapping_that_is_empty_is_a_value_and_what_one_side_lacks_is_nothing() -> None:
    assert describe_difference({"a": {}, "b": {"c": 1}}, {"a": {"d": None}, "b": {"c": 1.0}}) == [
        "a: {} before, nothing now",
        "b.c: 1 before, 1.0 now",
        "a.d: nothing before, null now",
    ]
