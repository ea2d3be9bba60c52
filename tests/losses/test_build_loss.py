from __future__ import annotations

from typing import Any

import pytest
import torch

from setsweep.losses import LOSSES, build_loss


def test_the_table_has_the_sixteen_losses_of_the_papers_and_five_baselines() -> None:
    assert sorted(LOSSES) == [
        "assume_negative",
        "avgk",
        "calibrated_topk_hinge",
        "conftr",
        "constrained_cardinality",
        "convex_topk_hinge",
        "cost_sensitive_cardinality",
        "cross_entropy",
        "differentiable_topk",
        "epr",
        "focal",
        "ldam",
        "logit_adjustment",
        "noised_imbalanced_topk_hinge",
        "noised_topk_hinge",
        "positive_bce",
        "role",
        "smooth_topk_hinge",
        "topk_grouping",
        "topk_hinge",
        "topk_transition",
    ]


def test_an_unknown_loss_is_refused_with_the_nearest_name_and_all_names() -> None:
    with pytest.raises(
        ValueError, match=r"^unknown loss 'avg_k'\. Did you mean 'avgk'\? Known: assume_negative, avgk, "
    ):
        build_loss("avg_k", num_classes=3)


def test_an_unknown_hyperparameter_is_refused_with_the_nearest_name_and_all_names() -> None:
    said = r"^unknown hyperparameter of avgk 'alfa'\. Did you mean 'alpha'\? Known: alpha, y_in_negatives\.$"
    with pytest.raises(ValueError, match=said):
        build_loss("avgk", num_classes=3, k=2, alfa=1.0)
    with pytest.raises(ValueError, match=r"^unknown hyperparameter of cross_entropy 'x'\. Known: none\.$"):
        build_loss("cross_entropy", num_classes=3, x=1)


@pytest.mark.parametrize("num_classes", [1, 2.5, "3", True])
def test_fewer_than_two_classes_are_refused(num_classes: Any) -> None:
    with pytest.raises(ValueError, match=r"^num_classes must be a whole number >= 2, got "):
        build_loss("cross_entropy", num_classes=num_classes)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([1, 2], r"must have shape \(3,\), one for each class, got \(2,\)"),
        ([1, -2, 3], r"must be >= 0 and not all 0, got \[1, -2, 3\]"),
        ([0, 0, 0], r"must be >= 0 and not all 0, got \[0, 0, 0\]"),
    ],
)
def test_class_counts_that_do_not_fit_are_refused(counts: list[int], said: str) -> None:
    with pytest.raises(ValueError, match=rf"^class_counts {said}\.$"):
        build_loss("ldam", num_classes=3, class_counts=counts)


def test_class_counts_may_be_a_list_or_a_tensor() -> None:
    as_list, as_tensor = (
        build_loss("ldam", num_classes=3, class_counts=counts) for counts in ([1, 16, 81], torch.tensor([1, 16, 81]))
    )
    assert torch.equal(as_list.margins, as_tensor.margins)


@pytest.mark.parametrize("num_examples", [0, 2.5, "3"])
def test_a_number_of_examples_that_is_none_is_refused(num_examples: Any) -> None:
    with pytest.raises(ValueError, match=r"^num_examples must be a whole number >= 1 for role, got "):
        build_loss("role", num_classes=3, k=2, num_examples=num_examples)


def test_hyperparameters_that_are_left_out_take_their_defaults() -> None:
    declared = LOSSES["noised_topk_hinge"].defaults()
    loss = build_loss("noised_topk_hinge", num_classes=9, k=2, epsilon=0.7)
    assert loss.epsilon == 0.7
    assert loss.num_samples == declared["num_samples"]


def test_hyperparameters_are_given_to_the_loss_in_their_own_type() -> None:
    assert type(build_loss("noised_topk_hinge", num_classes=9, k=2, num_samples=3.0).num_samples) is int
    assert type(build_loss("focal", num_classes=9, gamma=2).gamma) is float
