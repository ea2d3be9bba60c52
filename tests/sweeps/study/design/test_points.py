"""What is legal by itself and not together is told before anything is trained, at the field that it comes from."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.sweeps.study.study import Study

Errors = Callable[..., list[str]]
Read = Callable[..., Study]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("momentum: 0.9", "momentum: 0", "5: training.optimizer.nesterov: must be false without momentum, got true."),
        ("momentum: 0.9, nesterov: true", "betas: [0.8, 0.9]", "5: training.optimizer.betas: must be left out, since sgd has none, got (0.8, 0.9)."),
        ("name: sgd, lr: 0.05, momentum: 0.9, nesterov: true", "name: adam, momentum: 0.9", "5: training.optimizer.momentum: must be left out, since adam has none, got 0.9."),
        ("milestones: [6, 8]", "milestones: [6, 10]", "5: training.milestones: must be below training.epochs = 10, got 10."),
        ("milestones: [6, 8]", "warmup_epochs: 10", "5: training.warmup_epochs: must be below training.epochs = 10, got 10."),
        ("milestones: [6, 8]", "patience: 3, keep: last", "5: training.patience: must be null with training.keep = last, which waits for no best epoch, got 3."),
        ("epochs: 10", "epochs: {int: [5, 10]}", "5: training.milestones: must be below training.epochs = 5, got 8."),
        ("num_samples: 3", "k: 10", "10: arms.noised_topk_hinge.k: must be between 1 and num_classes - 1 = 9, got 10."),
        ("data.label_noise: [0.0, 0.2]", "training.epochs: [10, 7]", "5: training.milestones: must be below training.epochs = 7, got 8."),
        ("data.label_noise: [0.0, 0.2]", "training.milestones: [[6], [11]]", "11: grid.training.milestones: must be below training.epochs = 10, got 11."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_error_with_its_line(mistake: Errors, before: str, after: str, message: str) -> None:
    assert mistake(before, after) == [f"study.yaml:{message}"]


def test_every_arm_whose_loss_takes_no_mixed_labels_is_told(errors_of: Errors, example: str) -> None:
    assert errors_of(example, "training.augment.mixup=0.2") == [
        "--set training.augment.mixup=0.2: training.augment.mixup: must be 0 with avgk, which takes no soft labels, got 0.2.",
        "--set training.augment.mixup=0.2: training.augment.mixup: must be 0 with noised_topk_hinge, which takes no soft labels, got 0.2.",
    ]


def test_k_is_checked_at_every_point_of_the_grid(errors_of: Errors, example: str) -> None:
    text = example.replace("name: fashion_mnist", "name: circle").replace("name: small_cnn", "name: linear")
    text = text.replace("data.label_noise: [0.0, 0.2]", "data.classes: [6, 3]")
    assert errors_of(text) == ["study.yaml:6: k: must be between 1 and num_classes - 1 = 2, got 3."]


def test_overridden_milestones_must_fit_the_epochs(errors_of: Errors, example: str) -> None:
    assert errors_of(example, "training.epochs=3", "training.milestones=[2, 3]") == [
        "--set training.milestones=[2, 3]: training.milestones: must be below training.epochs = 3, got 3."
    ]


def test_a_k_of_the_study_is_no_error_of_an_arm_that_has_its_own(errors_of: Errors, example: str) -> None:
    text = example.replace("name: fashion_mnist", "name: circle").replace("name: small_cnn", "name: linear")
    text = text.replace("data.label_noise: [0.0, 0.2]", "data.classes: [6, 3]").replace("num_samples: 3", "k: 1")
    assert errors_of(text) == ["study.yaml:6: k: must be between 1 and num_classes - 1 = 2, got 3."]


def test_what_an_arm_sets_of_training_is_told_at_the_arm(errors_of: Errors, example: str) -> None:
    assert errors_of(example, "arms.avgk.training.milestones=[9, 12]") == [
        "--set arms.avgk.training.milestones=[9, 12]: arms.avgk.training.milestones: must be below training.epochs = 10, "
        "got 12."
    ]


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ("arms.avgk.training.epochs={int: [8, 12]}", "training.milestones: must be below training.epochs = 8, got 8."),
        ("arms.avgk.training.epochs={choice: [12, 8, 10]}", "training.milestones: must be below training.epochs = 8, got 8."),
        ("training.warmup_epochs={int: [0, 10]}", "training.warmup_epochs: must be below training.epochs = 10, got 10."),
    ],
)  # fmt: skip
def test_both_ends_and_every_choice_of_what_is_searched_must_go_with_the_rest(
    errors_of: Errors, example: str, space: str, message: str
) -> None:
    """The defaults, 10 epochs and no warm-up, do."""
    for grid in ("null", "{data.label_noise: [0.0, 0.2]}"):
        [error] = errors_of(example, space, f"grid={grid}")
        assert error.endswith(f": {message}")


def test_what_goes_together_at_every_end_is_a_study(read_text: Read, example: str) -> None:
    study = read_text(example, "arms.avgk.training.epochs={int: [9, 12]}", "training.warmup_epochs={int: [0, 8]}")
    assert set(study.arms["avgk"].searched) == {"loss.alpha", "training.epochs", "training.warmup_epochs"}
