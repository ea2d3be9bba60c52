from __future__ import annotations

from dataclasses import replace
from typing import Any

from setsweep.sweeps.statistics.contrasts import contrasts
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Arm


def _own(study: Any, **ks: int) -> Any:
    """The study with arms of these set sizes, each compared at its own."""
    arms = {name: Arm(name=name, loss="noised_topk_hinge", fixed={"loss.k": k}) for name, k in ks.items()}
    plain = {"cross_entropy": Arm(name="cross_entropy", loss="cross_entropy")}
    return replace(study, arms=plain | arms, grid={}, compare=Compare(baseline="cross_entropy", k="own"))


def test_the_primary_is_the_test_twin_of_the_objective(study: Any) -> None:
    assert {each.metric for each in contrasts(study) if each.primary} == {"test/avg2_accuracy"}


def test_without_a_search_the_primary_is_average_k_at_the_largest_k(study: Any) -> None:
    searchless = replace(study, search=None)
    assert {each.metric for each in contrasts(searchless) if each.primary} == {"test/avg3_accuracy"}


def test_where_the_metrics_compared_lack_it_the_first_of_them_is_primary(study: Any) -> None:
    metrics = ("test/macro_top3_accuracy", "test/top2_accuracy")
    asked = contrasts(replace(study, compare=Compare(baseline="avgk", metrics=metrics)))
    assert {(each.metric, each.primary) for each in asked} == {(metrics[0], True), (metrics[1], False)}


def test_arms_with_a_k_of_their_own_are_compared_at_that_alone(study: Any) -> None:
    asked = {each.arm: set() for each in contrasts(_own(study, two=2, three=3))}
    for each in contrasts(_own(study, two=2, three=3)):
        asked[each.arm].add((each.metric, each.primary))
    assert asked == {
        "two": {("test/avg2_accuracy", True), ("test/top2_accuracy", False)},
        "three": {("test/avg3_accuracy", True), ("test/top3_accuracy", False)},
    }


def test_two_arms_of_different_k_are_compared_at_every_k(study: Any) -> None:
    own = _own(study, two=2, three=3)
    paired = replace(own, compare=replace(own.compare, baseline=None, pairs=(("two", "three"),)))
    assert len(contrasts(paired)) == 4


def test_a_pair_that_is_compared_anyway_is_not_compared_twice(study: Any) -> None:
    usual = contrasts(study)
    again = replace(study, compare=replace(study.compare, pairs=(("avgk", "cross_entropy"),)))
    assert contrasts(again) == usual


def test_a_k_of_the_grid_is_the_arms_own(study: Any) -> None:
    own = _own(study, two=2)
    asked = contrasts(replace(own, grid={"loss.k": (2, 3)}))
    assert [(each.point["loss.k"], each.metric) for each in asked if each.primary] == [
        (2, "test/avg2_accuracy"),
        (3, "test/avg3_accuracy"),
    ]
