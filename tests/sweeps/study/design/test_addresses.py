"""Where a path of the grid or of a sensitivity study leads in the runs of each arm."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.study.design.addresses import (
    check_for,
    known_paths,
    path_for,
    point_for,
    refuse_unknown,
    setting_of,
)
from setsweep.sweeps.study.study import Arm

PLAIN = Arm(name="plain", loss="cross_entropy")
MINE = Arm(name="mine", loss="avgk")
ARMS = {arm.name: arm for arm in (PLAIN, MINE)}
SECTIONS = {"data": {"name": "digits"}, "model": {"name": "mlp"}}


@pytest.mark.parametrize(
    ("path", "plain", "mine"),
    [
        ("data.label_noise", "data.label_noise", "data.label_noise"),
        ("model.hidden", "model.hidden", "model.hidden"),
        ("training.batch_size", "training.batch_size", "training.batch_size"),
        ("loss.alpha", None, "loss.alpha"),
        ("mine.alpha", None, "loss.alpha"),
        ("mine.training.batch_size", None, "training.batch_size"),
        ("nobody.alpha", None, None),
    ],
)
def test_a_path_concerns_the_arms_that_have_such_a_value(path: str, plain: str | None, mine: str | None) -> None:
    assert path_for(path, PLAIN) == plain
    assert path_for(path, MINE) == mine


def test_a_point_says_of_an_arm_what_concerns_it() -> None:
    point = {"data.label_noise": 0.2, "loss.alpha": 3.0, "mine.training.batch_size": 32}
    assert point_for(point, PLAIN) == {"data.label_noise": 0.2}
    assert point_for(point, MINE) == {"data.label_noise": 0.2, "loss.alpha": 3.0, "training.batch_size": 32}


def test_the_row_of_a_path_is_that_of_its_section() -> None:
    assert setting_of("training.batch_size", PLAIN, SECTIONS).rule.type == "whole"
    assert setting_of("loss.alpha", MINE, SECTIONS).search == {"log_uniform": (0.1, 10.0)}
    assert setting_of("model.hidden", MINE, SECTIONS).default == 128


def test_values_are_checked_by_the_row() -> None:
    assert check_for("training.batch_size", PLAIN, 32, SECTIONS) == 32
    assert check_for("data.label_noise", PLAIN, 0, SECTIONS) == 0.0
    with pytest.raises(ValueError, match=r"^must be .*, got -1"):
        check_for("loss.alpha", MINE, -1, SECTIONS)


@pytest.mark.parametrize(
    "path", ["training.batch_size", "loss.alpha", "mine.alpha", "mine.training.batch_size", "model.layers"]
)
def test_paths_that_mean_something_to_an_arm_pass(path: str) -> None:
    refuse_unknown(path, ARMS, SECTIONS)


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("training.batchsize", "training.batch_size"),
        ("loss.alhpa", "loss.alpha"),
        ("mine.alpah", "mine.alpha"),
        ("model.hiden", "model.hidden"),
    ],
)
def test_a_path_that_means_nothing_is_refused_with_the_nearest_that_does(path: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"{nearest}") as caught:
        refuse_unknown(path, ARMS, SECTIONS)
    assert path in str(caught.value)


def test_known_paths_are_those_of_sections_of_losses_and_of_arms() -> None:
    paths: list[Any] = known_paths(ARMS, SECTIONS)
    assert {"training.batch_size", "model.hidden", "data.label_noise", "loss.alpha", "mine.alpha"} <= set(paths)
    assert "plain.alpha" not in paths
    assert len(set(paths)) == len(paths)
