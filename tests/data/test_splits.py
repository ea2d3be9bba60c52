from __future__ import annotations

import pytest
import torch

from setsweep.data.seeding import seeded_generator
from setsweep.data.splits import hold_out_each, stratified_order, stratified_split, train_and_val

BALANCED = torch.arange(20).repeat(50)
SKEWED = torch.arange(5).repeat_interleave(torch.tensor([500, 200, 100, 20, 5]))


@pytest.mark.parametrize("labels", [BALANCED, SKEWED])
def test_the_order_is_a_permutation(labels: torch.Tensor) -> None:
    order = stratified_order(labels, seeded_generator(0, "test"))

    assert torch.equal(order.sort().values, torch.arange(len(labels)))


def test_in_every_beginning_classes_of_equal_size_differ_by_at_most_one() -> None:
    order = stratified_order(BALANCED, seeded_generator(0, "test"))

    counts = torch.nn.functional.one_hot(BALANCED[order]).cumsum(0)

    assert (counts.max(dim=1).values - counts.min(dim=1).values).max() == 1


def test_classes_that_get_the_odd_example_are_chosen_at_random() -> None:
    halves = [BALANCED[stratified_order(BALANCED, seeded_generator(seed, "test"))[:10]] for seed in range(40)]

    # each class is missing from all of 40 random halves with probability 2^-40: false alarm below 2e-11
    assert len(torch.unique(torch.cat(halves))) == 20


def test_classes_of_different_size_keep_their_shares() -> None:
    (part,) = stratified_split(SKEWED, (165,), seeded_generator(0, "test"))  # a fifth of 825

    expected = torch.tensor([100, 40, 20, 4, 1])
    assert (SKEWED[part].bincount(minlength=5) - expected).abs().max() <= 1


def test_parts_are_disjoint_ascending_and_of_the_sizes_asked_for() -> None:
    parts = stratified_split(SKEWED, (400, 300, 100), seeded_generator(0, "test"))

    assert [len(part) for part in parts] == [400, 300, 100]
    assert len(torch.unique(torch.cat(parts))) == 800
    assert all((part.diff() > 0).all() for part in parts)


def test_sizes_beyond_the_examples_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sizes must add up to at most the 1000 examples, got \(900, 101\)\."):
        stratified_split(BALANCED, (900, 101), seeded_generator(0, "test"))


def test_training_and_validation_are_balanced_disjoint_and_whole() -> None:
    train, val = train_and_val(BALANCED, val_size=100, subset=None, split_seed=0, name="test")

    assert set(BALANCED[val].bincount().tolist()) == {5}
    assert set(BALANCED[train].bincount().tolist()) == {45}
    assert torch.equal(torch.cat([train, val]).sort().values, torch.arange(1000))


def test_the_subset_does_not_touch_validation_and_grows_by_adding() -> None:
    def split(subset: int | None) -> tuple[set[int], set[int]]:
        train, val = train_and_val(BALANCED, val_size=100, subset=subset, split_seed=0, name="test")
        return set(train.tolist()), set(val.tolist())

    small, medium, whole = split(200), split(333), split(None)

    assert small[0] < medium[0] < whole[0]
    assert small[1] == medium[1] == whole[1]


def test_the_split_depends_on_its_seed_and_on_the_data_set() -> None:
    def val(split_seed: int, name: str) -> list[int]:
        chosen: list[int] = train_and_val(BALANCED, val_size=100, subset=None, split_seed=split_seed, name=name)[
            1
        ].tolist()
        return chosen

    assert val(0, "a") == val(0, "a")
    assert val(0, "a") != val(1, "a")
    assert val(0, "a") != val(0, "b")


def test_of_each_class_the_same_number_is_held_out_if_it_has_so_many() -> None:
    kept, held = hold_out_each(SKEWED, 15, seeded_generator(0, "test"))

    assert SKEWED[held].bincount(minlength=5).tolist() == [15, 15, 15, 15, 5]
    assert torch.equal(torch.cat([kept, held]).sort().values, torch.arange(825))
    assert all((part.diff() > 0).all() for part in (kept, held))
    assert not torch.equal(held, hold_out_each(SKEWED, 15, seeded_generator(1, "test"))[1])
