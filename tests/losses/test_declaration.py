from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from setsweep.losses import LOSSES
from setsweep.losses.declaration import Hyperparameter
from setsweep.losses.values import Number

ALL = [
    pytest.param(hyperparameter, id=f"{loss}.{name}")
    for loss, declaration in LOSSES.items()
    for name, hyperparameter in declaration.hyperparameters.items()
]


@pytest.mark.parametrize(
    ("hyperparameter", "value", "said"),
    [
        (Hyperparameter(default=1, low=1), 1.5, "n must be a whole number >= 1, got 1.5."),
        (Hyperparameter(default=1, low=1), True, "n must be a whole number >= 1, got True."),
        (Hyperparameter(default=0.5, above=0.0), 0, "n must be > 0, got 0."),
        (Hyperparameter(default=0.5, low=0.0), float("nan"), "n must be a number >= 0, got nan."),
        (Hyperparameter(default=0.5, low=0.0), float("inf"), "n must be a number >= 0, got inf."),
        (Hyperparameter(default=1, low=1), float("nan"), "n must be a whole number >= 1, got nan."),
        (Hyperparameter(default=1, low=1), float("inf"), "n must be a whole number >= 1, got inf."),
        (Hyperparameter(default=0.5, low=0.0, high=1.0), 2, "n must be between 0 and 1, got 2."),
        (Hyperparameter(default=0.5, above=0.0, high=1.0), "a", "n must be a number > 0 and <= 1, got 'a'."),
        (Hyperparameter(default=False), 1, "n must be true or false, got 1."),
    ],
)
def test_a_hyperparameter_says_its_rule_and_the_value(hyperparameter: Hyperparameter, value: Any, said: str) -> None:
    with pytest.raises(ValueError, match="must") as error:
        hyperparameter.check("n", value)
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("default", "value", "kept"), [(1.0, 2, 2.0), (1, 2.0, 2), (False, True, True), (0.5, "1e-3", 1e-3)]
)
def test_a_hyperparameter_keeps_its_own_type(default: float | bool, value: Any, kept: Any) -> None:
    checked = Hyperparameter(default=default).check("n", value)
    assert checked == kept
    assert type(checked) is type(default)


def test_its_rule_is_that_of_a_number_of_its_type() -> None:
    whole = Hyperparameter(default=3, low=1, high=9).number
    assert whole == Number(whole=True, low=1, high=9)
    assert Hyperparameter(default=3.0, above=1.0).number == Number(above=1.0)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        LOSSES["avgk"].hyperparameters["alpha"].default = 2.0  # type: ignore[misc]


@pytest.mark.parametrize("hyperparameter", ALL)
def test_defaults_are_legal_and_said_what_for(hyperparameter: Hyperparameter) -> None:
    assert hyperparameter.check("n", hyperparameter.default) == hyperparameter.default
    assert hyperparameter.about


@pytest.mark.parametrize("hyperparameter", ALL)
def test_what_is_searched_is_legal_and_holds_the_default(hyperparameter: Hyperparameter) -> None:
    if hyperparameter.search is None:
        return
    ((how, values),) = hyperparameter.search.items()
    assert how in ("uniform", "log_uniform", "int", "choice")
    for value in values:
        assert hyperparameter.check("n", value) == value
    if how == "choice":
        assert hyperparameter.default in values
    else:
        assert values[0] < values[1]
        assert values[0] <= hyperparameter.default <= values[1]


def test_defaults_are_given_by_name_in_the_order_of_the_declaration() -> None:
    defaults = LOSSES["noised_imbalanced_topk_hinge"].defaults()
    assert list(defaults.items()) == [("epsilon", 0.01), ("num_samples", 5), ("max_margin", 0.2), ("scale", 60.0)]
    assert LOSSES["cross_entropy"].defaults() == {}


def test_scales_of_cosine_scores_are_asked_for_by_losses_with_a_cosine_head_alone() -> None:
    # Evaluation and served models multiply cosines by the loss's scale before the softmax.
    with_scale = [name for name, declaration in LOSSES.items() if "scale" in declaration.hyperparameters]
    assert with_scale == [name for name, declaration in LOSSES.items() if declaration.head == "cosine"]
