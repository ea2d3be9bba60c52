"""What is known of a hyperparameter that was varied: scale, order of its values, default, and what was chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.reports.report import Chosen, Report, build_report
from setsweep.sweeps.reports.sensitivity.dimension import dimension, in_order, name_of, scale_in
from setsweep.sweeps.statistics.sensitivity.scale import Scale
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm

LINEAR = Scale(kind="linear", low=0, high=100)


@pytest.mark.parametrize(
    ("space", "kind"),
    [("uniform", "linear"), ("int", "linear"), ("log_uniform", "log"), ("log_int", "log")],
)
def test_a_range_has_the_scale_that_it_is_searched_on(space: Any, kind: str) -> None:
    assert scale_in(Space(kind=space, low=1, high=64)) == Scale(kind=kind, low=1, high=64)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ((10.0, 0.1, 1.0), (0.1, 1.0, 10.0)),
        ((64, 128, "full"), (64, 128, "full")),  # by their text 128 would be first
        (("small", "medium", "large"), ("small", "medium", "large")),
        ((True, False), (True, False)),
    ],
)
def test_choices_are_in_the_order_of_the_study_and_numbers_ascending(choices: Any, expected: Any) -> None:
    scale = scale_in(Space(kind="choice", choices=choices))
    assert scale.values == expected
    assert in_order(set(choices), scale) == expected
    assert [scale.position(value) for value in in_order(set(choices), scale)] == sorted(map(scale.position, choices))


def test_the_name_of_a_losss_own_is_bare() -> None:
    assert (name_of("loss.alpha"), name_of("training.batch_size")) == ("alpha", "training.batch_size")


@pytest.fixture
def default(make_study: Any) -> Any:
    """Calls give the default of a hyperparameter of an arm in a study."""

    def call(arm: Arm, path: str, *, point: Any = None, training: Any = None) -> Any:
        study = make_study(arms={arm.name: arm}, training=training or {})
        return dimension(_report(study), arm, point or {}, path, (1, 2), LINEAR).default

    return call


def _report(study: Any, *chosen: Chosen) -> Report:
    return replace(build_report(study, []), chosen=chosen)


def test_the_default_is_that_of_the_loss_unless_the_arm_or_its_point_say_another(default: Any) -> None:
    assert default(Arm(name="avgk", loss="avgk"), "loss.alpha") == 1.0
    assert default(Arm(name="avgk", loss="avgk", fixed={"loss.alpha": 0.3}), "loss.alpha") == 0.3
    assert default(Arm(name="avgk", loss="avgk"), "loss.alpha", point={"avgk.alpha": 3.0}) == 3.0
    searched = {"loss.alpha": Space(kind="log_uniform", low=0.1, high=10, default=2.0)}
    assert default(Arm(name="avgk", loss="avgk", searched=searched), "loss.alpha") == 2.0


def test_the_default_of_the_training_is_what_the_study_says_or_else_the_settings_own(default: Any) -> None:
    arm = Arm(name="avgk", loss="avgk")
    assert default(arm, "training.batch_size") == 128
    assert default(arm, "training.batch_size", training={"batch_size": 64}) == 64
    assert default(arm, "training.optimizer.lr", training={"optimizer": {"lr": 0.5}}) == 0.5
    assert default(arm, "training.optimizer.lr", training={"optimizer": {"momentum": 0.5}}) == 0.1
    assert default(arm, "training.optimizer.lr") == 0.1


def test_what_was_chosen_is_that_of_the_arm_at_the_point_and_nothing_where_it_is_not_searched(make_study: Any) -> None:
    space = Space(kind="log_uniform", low=0.1, high=10, default=1.0)
    arm = Arm(name="avgk", loss="avgk", searched={"loss.alpha": space, "training.batch_size": space})
    study = make_study(arms={"avgk": arm})

    def choice(noise: float, alpha: float) -> Chosen:
        params = {"alpha": alpha, "training.batch_size": 32, "k": 2}
        candidate = Candidate(arm="avgk", point={"x": noise}, stage="confirm", trial=None, params=params)
        return Chosen(candidate=candidate, seeds=(0,), done=1, failed=0)

    report = _report(study, choice(0.0, 4.0), choice(0.2, 5.0))
    assert dimension(report, arm, {"x": 0.2}, "loss.alpha", (1, 2), LINEAR).chosen == 5.0
    assert dimension(report, arm, {"x": 0.2}, "training.batch_size", (1, 2), LINEAR).chosen == 32
    assert dimension(report, arm, {"x": 0.9}, "loss.alpha", (1, 2), LINEAR).chosen is None
    assert dimension(report, arm, {"x": 0.2}, "loss.k", (1, 2), LINEAR).chosen is None  # given
