"""What conformal sets are measured by: numbers by hand."""

from __future__ import annotations

import pytest
import torch

from setsweep.trainables.conformal.measures import OF_CLASSES, OF_EXAMPLES, measures, of_groups, size_violation

COVERED = torch.tensor([True, True, False, True, False, False])
SIZES = torch.tensor([1, 1, 0, 3, 2, 5])
LABELS = torch.tensor([0, 0, 0, 1, 1, 3])


def test_numbers_by_hand() -> None:
    found = measures(COVERED, SIZES, LABELS, num_classes=4, coverage=0.9)
    assert set(found) == {*OF_EXAMPLES, *OF_CLASSES}
    assert found == pytest.approx({
        "coverage": 3 / 6,
        "macro_coverage": (2 / 3 + 1 / 2 + 0) / 3,  # class 2 has no example
        "undercoverage": ((0.9 - 2 / 3) + (0.9 - 1 / 2) + 0.9) / 3,
        "classes_below_half": 1 / 3,  # 0 of class 3 is below 0.45
        "size_violation": 0.9,  # sizes 0-1: 2 of 3; 2-3: 1 of 2; 4-10: 0 of 1, which is 0.9 below the target
        "set_size": 12 / 6,
        "set_size_p25": 1,  # the 2nd of 0 1 1 2 3 5
        "set_size_p50": 1,  # the 3rd
        "set_size_p75": 3,  # the 5th
        "set_size_p90": 5,  # the 6th
        "empty_sets": 1 / 6,
        "single_sets": 2 / 6,
    })  # fmt: skip


def test_a_class_that_is_covered_more_than_asked_does_not_make_up_for_another() -> None:
    covered, labels = torch.tensor([True, True, True, False]), torch.tensor([0, 0, 1, 1])
    assert measures(covered, torch.ones(4).long(), labels, num_classes=2, coverage=0.75)["undercoverage"] == 0.125


def test_groups_are_measured_on_their_own_examples() -> None:
    groups = {"few": torch.tensor([False, True, False, True]), "many": torch.tensor([False, False, True, False])}
    found = of_groups(COVERED, SIZES, LABELS, groups, coverage=0.9)
    assert list(found) == ["few"]  # no example of the others
    assert found["few"]["coverage"] == pytest.approx(1 / 3)
    assert found["few"]["macro_coverage"] == pytest.approx((1 / 2 + 0) / 2)
    assert found["few"]["set_size"] == pytest.approx(10 / 3)


def test_sets_larger_than_any_stratum_of_the_paper_are_in_the_last() -> None:
    covered = torch.tensor([True, False])
    assert size_violation(covered, torch.tensor([150, 9000]), 0.9) == pytest.approx(0.4)
