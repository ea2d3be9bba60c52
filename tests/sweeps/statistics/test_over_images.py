"""Contrasts of the primary metric, image by image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from setsweep.sweeps.statistics.aggregates import aggregate
from setsweep.sweeps.statistics.comparisons import compare
from setsweep.sweeps.statistics.over_images import OverImages, over_images
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.hits import Hits

IMAGES = 200
NAME = "avg2_accuracy"
Right = Callable[[Any], np.ndarray[Any, np.dtype[np.bool_]]]


def drawn(run: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which images a run has right; the run alone decides."""
    return np.random.default_rng(int(run.key, 16)).random(IMAGES) < (0.9 if run.arm == "avgk" else 0.7)


def over(
    study: Study, results: Any, finished: Any, order: Callable[[Any], str] = lambda run: "same", right: Right = drawn
) -> dict[tuple[str, float], OverImages]:
    """What is found where every tested run has kept hits, the accuracies being those of the hits."""

    def outcome(run: Any) -> Any:
        if run.stage != "confirm":
            return finished(run)
        images = right(run)
        hits = Hits(IMAGES, order(run), {NAME: np.packbits(images).tobytes()})
        result = finished(run)
        return replace(result, hits=hits, metrics={**result.metrics, f"test/{NAME}": float(images.mean())})

    own = replace(study, compare=replace(study.compare, images=True))
    runs = results(own, outcome)
    comparisons = compare(aggregate(runs, confidence=0.95), own)
    return {(each.arm, each.point["data.label_noise"]): each for each in over_images(comparisons, runs, own)}


def test_every_contrast_of_the_primary_is_told_over_seeds_and_images(study: Any, results: Any, finished: Any) -> None:
    found = over(study, results, finished)
    assert found.keys() == {(arm, noise) for arm in ("avgk", "noised") for noise in (0.0, 0.2)}
    each = found["avgk", 0.2]
    runs = {(r.arm, r.seed): drawn(r) for r, _ in results(study) if r.stage == "confirm" and r.point == each.point}
    ours, theirs = (np.stack([runs[arm, seed] for seed in study.confirm_seeds]) for arm in ("avgk", "cross_entropy"))
    differences = ours.mean(1) - theirs.mean(1)
    assert each.crossed is not None
    assert (each.images, each.problem, each.crossed.n) == (IMAGES, None, 5)
    assert each.crossed.difference == pytest.approx(differences.mean())
    assert each.crossed.over_seeds == pytest.approx(stats.t.ppf(0.975, 4) * differences.std(ddof=1) / 5**0.5)
    assert list(each.by_seed) == list(study.confirm_seeds)
    for row, test in enumerate(each.by_seed.values()):
        better, worse = (ours[row] & ~theirs[row]).sum(), (theirs[row] & ~ours[row]).sum()
        assert (test.better, test.worse) == (better, worse)
        assert test.p == pytest.approx(stats.binomtest(int(better), int(better + worse)).pvalue)


def test_nothing_is_told_where_it_is_not_asked_for(study: Any, results: Any) -> None:
    runs = results(study)
    assert over_images(compare(aggregate(runs, confidence=0.95), study), runs, study) == []


def test_the_same_images_in_another_order_are_not_compared(study: Any, results: Any, finished: Any) -> None:
    found = over(study, results, finished, lambda run: "other" if run.arm == "avgk" else "same")
    assert found["noised", 0.0].problem is None
    each = found["avgk", 0.0]
    assert each.problem == "the two have other test images, or the same in another order"
    assert (each.crossed, each.by_seed, each.images) == (None, {}, None)


def test_test_images_of_each_seeds_own_give_mcnemars_tests_alone(study: Any, results: Any, finished: Any) -> None:
    each = over(study, results, finished, lambda run: str(run.seed))["avgk", 0.0]
    assert each.problem == "every seed has test images of its own"
    assert each.crossed is None
    assert len(each.by_seed) == 5


def test_runs_older_than_the_record_are_said_to_be(study: Any, results: Any) -> None:
    own = replace(study, compare=replace(study.compare, images=True))
    runs = results(own)
    found = over_images(compare(aggregate(runs, confidence=0.95), own), runs, own)
    assert {each.problem for each in found} == {"its runs, or the baseline's, are older than the record of hits"}


@pytest.mark.parametrize("metric", ["test/macro_top2_accuracy", "test/avg2_set_size"])
def test_what_is_no_mean_over_images_is_said_to_be_none(metric: str, study: Any, results: Any, finished: Any) -> None:
    found = over(replace(study, compare=replace(study.compare, primary=metric)), results, finished)
    assert {each.problem for each in found.values()} == {f"{metric} is no mean over test images at an epoch of its own"}
    assert not any(each.by_seed for each in found.values())


def test_two_models_that_have_the_same_images_right_have_p_1(study: Any, results: Any, finished: Any) -> None:
    each = over(study, results, finished, right=lambda run: np.arange(IMAGES) < 150 + 0 * run.seed)["avgk", 0.0]
    assert {test.p for test in each.by_seed.values()} == {1.0}
    assert each.crossed is not None
    assert (each.crossed.difference, each.crossed.ci_low) == (0.0, None)  # equal differences have no interval
