# ruff: noqa: E501  # messages stand as they are shown

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.sweeps.study.study import Study

Read = Callable[..., Study]
Errors = Callable[..., list[str]]


def test_by_default_the_objectives_test_metric_is_primary_and_nothing_else_is_asked(
    read_text: Read, example: str
) -> None:
    study = read_text(example)
    assert study.primary == "test/avg2_accuracy"
    assert (study.compare.pairs, study.compare.k, study.compare.equivalent, study.compare.looks) == (
        (),
        "all",
        None,
        None,
    )


def test_what_is_asked_of_comparisons_is_read(read_text: Read, example: str) -> None:
    study = read_text(
        example,
        "compare.primary=test/macro_avg3_accuracy",
        "compare.pairs=[[avgk, noised_topk_hinge]]",
        "compare.k=own",
        "compare.looks=[3, 5]",
    )
    assert study.compared[0] == study.primary == "test/macro_avg3_accuracy"
    assert study.compare.pairs == (("avgk", "noised_topk_hinge"),)
    assert (study.compare.k, study.compare.looks) == ("own", (3, 5))
    assert read_text(example, "compare.looks=anytime").compare.looks == "anytime"
    assert read_text(example, "compare.equivalent=0.25").compare.equivalent == 0.25


@pytest.mark.parametrize(
    ("override", "rule"),
    [
        ("primary=val/avg2_accuracy", "compare.primary: unknown test accuracy 'val/avg2_accuracy'. Did you mean 'test/avg2_accuracy'?"),
        ("primary=test/avg2_set_size", "compare.primary: unknown test accuracy 'test/avg2_set_size'."),
        ("pairs=[[avgk, focal]]", "compare.pairs: unknown arm 'focal'."),
        ("pairs=[[avgk, avgk]]", "compare.pairs: must be pairs of two arms, got 'avgk' twice."),
        ("pairs=[avgk]", "compare.pairs: must be a list of 2, got 'avgk'."),
        ("pairs=[[avgk, cross_entropy], [cross_entropy, avgk]]", "compare.pairs: must be distinct pairs, got 'cross_entropy' and 'avgk' again."),
        ("k=mine", "compare.k: must be one of all, own, got 'mine'."),
        ("equivalent=0", "compare.equivalent: must be > 0 or null, got 0."),
        ("looks=5", "compare.looks: must be ascending numbers of seeds or anytime, got 5."),
        ("looks=[2, 5]", "compare.looks: must be between 3 and 1000, got 2."),
        ("looks=[5, 5]", "compare.looks: must be ascending, got [5, 5]."),
        ("looks=[3, 10]", "compare.looks: must hold the number of seeds to confirm with, 5, got [3, 10]."),
    ],
)  # fmt: skip
def test_a_mistake_is_told(errors_of: Errors, example: str, override: str, rule: str) -> None:
    [error] = errors_of(example, f"compare.{override}")
    assert rule in error


def test_equality_is_not_claimed_at_several_looks(errors_of: Errors, example: str) -> None:
    [error] = errors_of(example, "compare.looks=anytime", "compare.equivalent=1")
    assert "compare.equivalent: must be tested once, without compare.looks, got anytime." in error


def test_an_arms_own_k_must_be_measured(errors_of: Errors, example: str) -> None:
    [error] = errors_of(example, "arms.noised_topk_hinge.k=4", "compare.k=own")
    assert "compare.k: must have the k of each arm among the set sizes [2, 3], got 4 of 'noised_topk_hinge'." in error


def test_looks_and_a_precision_exclude_each_other(errors_of: Errors, example: str) -> None:
    precise = example.replace("confirm: {seeds: 5}", "confirm: {half_width: 0.3}")
    [error] = errors_of(precise, "compare.looks=anytime")
    assert "compare.looks: must be left out with confirm.half_width, got anytime." in error


@pytest.mark.parametrize("seeds", [1, 2])
def test_equality_is_claimed_over_as_many_seeds_as_a_test_takes(
    errors_of: Errors, read_text: Read, example: str, seeds: int
) -> None:
    (told,) = errors_of(example, "compare.equivalent=0.25", f"confirm.seeds={seeds}")
    assert told.endswith(
        f"compare.equivalent: must rest on 3 seeds or more (confirm.seeds), as tests are over seeds, got {seeds}."
    )
    assert read_text(example, "compare.equivalent=0.25", "confirm.seeds=3").compare.equivalent == 0.25
