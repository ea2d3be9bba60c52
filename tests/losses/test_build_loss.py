from __future__ import annotations

import pytest
import torch

from setsweep.losses import LOSSES, build_loss
from setsweep.losses.declaration import Hyperparameter


def test_the_table_has_the_sixteen_losses():
    assert sorted(LOSSES) == [
        "assume_negative",
        "avgk",
        "calibrated_topk_hinge",
        "convex_topk_hinge",
        "cross_entropy",
        "epr",
        "focal",
        "ldam",
        "noised_imbalanced_topk_hinge",
        "noised_topk_hinge",
        "positive_bce",
        "role",
        "smooth_topk_hinge",
        "topk_grouping",
        "topk_hinge",
        "topk_transition",
    ]


def test_an_unknown_loss_is_refused_with_the_nearest_name_and_all_names():
    with pytest.raises(
        ValueError, match=r"^unknown loss 'avg_k'\. Did you mean 'avgk'\? Known: assume_negative, avgk, "
    ):
        build_loss("avg_k", num_classes=3)


def test_an_unknown_hyperparameter_is_refused_with_the_nearest_name_and_all_names():
    said = r"^unknown hyperparameter of avgk 'alfa'\. Did you mean 'alpha'\? Known: alpha, y_in_negatives\.$"
    with pytest.raises(ValueError, match=said):
        build_loss("avgk", num_classes=3, k=2, alfa=1.0)
    with pytest.raises(ValueError, match=r"^unknown hyperparameter of cross_entropy 'x'\. Known: none\.$"):
        build_loss("cross_entropy", num_classes=3, x=1)


@pytest.mark.parametrize("num_classes", [1, 2.5, "3", True])
def test_fewer_than_two_classes_are_refused(num_classes):
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
def test_class_counts_that_do_not_fit_are_refused(counts, said):
    with pytest.raises(ValueError, match=rf"^class_counts {said}\.$"):
        build_loss("ldam", num_classes=3, class_counts=counts)


def test_hyperparameters_that_are_left_out_take_their_defaults():
    assert (
        build_loss("noised_topk_hinge", num_classes=9, k=2).epsilon == LOSSES["noised_topk_hinge"].defaults()["epsilon"]
    )


def test_noise_comes_from_the_generator_given():
    scores, labels = torch.zeros(4, 9), torch.zeros(4, dtype=torch.int64)

    def drawn():
        generator = torch.Generator().manual_seed(3)
        return build_loss("noised_topk_hinge", num_classes=9, k=2, generator=generator)(scores, labels)

    assert torch.equal(drawn(), drawn())


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
def test_a_hyperparameter_says_its_rule_and_the_value(hyperparameter, value, said):
    with pytest.raises(ValueError, match="must") as error:
        hyperparameter.check("n", value)
    assert str(error.value) == said


def test_a_hyperparameter_keeps_its_own_type():
    assert isinstance(Hyperparameter(default=1.0).check("n", 2), float)
    assert isinstance(Hyperparameter(default=1).check("n", 2.0), int)
    assert Hyperparameter(default=False).check("n", True) is True
