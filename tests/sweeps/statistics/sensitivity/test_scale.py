from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.statistics.sensitivity.scale import Scale, scale_of


def test_a_linear_scale_is_proportional() -> None:
    assert Scale(kind="linear", low=2, high=6).positions([2, 3, 6, 7]).tolist() == [0, 0.25, 1, 1.25]


def test_a_log_scale_counts_decades() -> None:
    scale = Scale(kind="log", low=0.1, high=10)
    assert scale.positions([0.1, 1.0, 10.0]).tolist() == pytest.approx([0, 0.5, 1])
    # log10(10 / 0.8) = 1.0969 of 2 decades.
    extent = scale.extent(0.8, 10.0)
    assert (extent.amount, extent.unit) == (pytest.approx(1.0969, abs=1e-4), "decades")
    assert extent.share == pytest.approx(0.5485, abs=1e-4)


def test_zero_among_log_values_lies_one_decade_below_the_least_of_them() -> None:
    scale = scale_of([0, 0.01, 0.1, 1.0], log=True)
    assert (scale.kind, scale.threshold) == ("symlog", 0.01)
    assert scale.positions([0, 0.005, 0.01, 0.1, 1]).tolist() == pytest.approx([0, 1 / 6, 1 / 3, 2 / 3, 1])


def test_no_decade_is_counted_from_zero() -> None:
    scale = scale_of([0, 0.01, 0.1, 1.0], log=True)
    assert (scale.extent(0, 0.1).unit, scale.extent(0, 0.1).amount) == ("", 0.1)
    assert scale.extent(0, 0.1).share == pytest.approx(2 / 3)
    assert (scale.extent(0.01, 1.0).unit, scale.extent(0.01, 1.0).amount) == ("decades", pytest.approx(2))


def test_an_order_has_its_values_at_equal_distances() -> None:
    scale = scale_of(["sgd", "adam", "lion"])
    assert scale.positions(["lion", "adam"]).tolist() == [1, 0.5]
    extent = scale.extent("sgd", "adam")
    assert (extent.amount, extent.unit, extent.share) == (2, "values", pytest.approx(2 / 3))


def test_an_order_of_names_has_no_ends_and_one_of_numbers_has() -> None:
    assert not scale_of(["sgd", "adam"]).has_ends
    assert Scale(kind="order", values=(32, 64, 128)).has_ends
    assert scale_of([0.1, 10.0], log=True).has_ends


def test_true_and_false_are_an_order() -> None:
    assert scale_of([True, False]).kind == "order"


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"kind": "linear", "low": 1, "high": 1}, r"a scale must have low < high, got \[1, 1\]"),
        ({"kind": "log", "low": 0, "high": 1}, "a log scale must have low > 0, got 0"),
        ({"kind": "symlog", "low": 0, "high": 1}, "a symlog scale must have low >= 0 and 0 < threshold <= high"),
        ({"kind": "order", "values": (3,)}, r"an order must have 2 or more distinct values, got \[3\]"),
        ({"kind": "order", "values": (3, 3)}, "an order must have 2 or more distinct values"),
    ],
)
def test_ends_that_are_no_range_are_refused(arguments: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Scale(**arguments)


@pytest.mark.parametrize(
    ("scale", "value", "rule"),
    [
        (Scale(kind="log", low=1, high=2), 0, "a value on a log scale must be a number > 0, got 0"),
        (Scale(kind="linear", low=1, high=2), "x", "a value on a linear scale must be a number, got 'x'"),
        (Scale(kind="order", values=("sgd", "adam")), "adan", "unknown value of the order 'adan'. Did you mean 'adam'"),
    ],
)
def test_values_without_a_place_are_refused(scale: Scale, value: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        scale.position(value)
