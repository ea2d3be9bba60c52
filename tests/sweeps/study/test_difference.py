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
    assert describe_difference(read_text(example), read_text(example, override)) == []


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
    assert describe_difference(read_text(example), read_text(example, override)) == [difference]


def test_a_stored_protocol_is_as_good_as_the_study(read_text: Read, example: str) -> None:
    study = read_text(example)
    assert describe_difference(json.loads(json.dumps(study.protocol())), study) == []


def test_texts_are_compared_in_what_they_give(read_text: Read, example: str) -> None:
    old, new = read_text(example), read_text(example, "arms.avgk={}", "confirm=null", "search.trials=3")
    assert describe_difference(old.text, new.text) == [
        "arms.avgk.alpha.log_uniform: [0.1, 10] before, nothing now",
        "search.trials: 12 before, 3 now",
        "confirm.seeds: 5 before, nothing now",
        "arms.avgk: nothing before, {} now",
        "confirm: nothing before, null now",
    ]
