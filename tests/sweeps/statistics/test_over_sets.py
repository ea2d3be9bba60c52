from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scipy import stats

from setsweep.sweeps.statistics.aggregates import aggregate
from setsweep.sweeps.statistics.comparisons import compare
from setsweep.sweeps.statistics.over_sets import OverSets, over_sets

SETS = ("digits", "fashion_mnist", "cifar100", "a", "b", "c")


def _over(study: Any, results: Any, *, sets: int, noise: tuple[float, ...] = ()) -> tuple[list[OverSets], list[Any]]:
    grid = {"data.name": SETS[:sets], **({"data.label_noise": noise} if noise else {})}
    own = replace(study, grid=grid)
    comparisons = compare(aggregate(results(own), confidence=0.95), own)
    return over_sets(comparisons, own), comparisons


def test_a_set_counts_once_and_few_are_averaged(study: Any, results: Any) -> None:
    found, comparisons = _over(study, results, sets=3)
    assert [each.arm for each in found] == ["avgk", "noised"]
    for each in found:
        differences = [c.difference for c in comparisons if c.role == "primary" and c.arm == each.arm]
        assert each.found.difference == pytest.approx(sum(differences) / 3)
        assert each.found.p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
        assert (each.found.method, each.found.sets, each.metric) == ("mean", 3, "test/avg2_accuracy")


def test_from_six_sets_on_it_is_wilcoxons_test(study: Any, results: Any) -> None:
    found, comparisons = _over(study, results, sets=6)
    assert {each.found.method for each in found} == {"signed_rank"}
    differences = [c.difference for c in comparisons if c.role == "primary" and c.arm == "avgk"]
    assert found[0].found.p == pytest.approx(stats.wilcoxon(differences).pvalue)


def test_the_rest_of_the_grid_is_kept_apart_and_p_corrected_over_all(study: Any, results: Any) -> None:
    found, _ = _over(study, results, sets=2, noise=(0.0, 0.2))
    assert [each.point for each in found] == [{"data.label_noise": 0.0}, {"data.label_noise": 0.2}] * 2
    smallest = min(found, key=lambda each: each.found.p or 1)
    assert smallest.p_corrected == pytest.approx(min(1, 4 * (smallest.found.p or 1)))  # 2 arms, 2 points


def test_a_contrast_that_lacks_a_set_is_left_out(study: Any, results: Any, finished: Any, failed: Any) -> None:
    own = replace(study, grid={"data.name": SETS[:2]})
    runs = results(
        own, lambda run: failed(run) if (run.arm, run.point["data.name"]) == ("avgk", "digits") else finished(run)
    )
    assert [each.arm for each in over_sets(compare(aggregate(runs, confidence=0.95), own), own)] == ["noised"]


def test_one_set_is_nothing_to_combine(study: Any, results: Any) -> None:
    assert _over(study, results, sets=1)[0] == []
