"""The papers' schedules, as their papers print them."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.data.augmentation import Augmentation
from setsweep.trainables.config.presets import PRESETS
from setsweep.trainables.config.run_config import Optimizer, Training
from setsweep.trainables.config.training import check_training
from setsweep.trainables.learners.optimizers import learning_rate
from setsweep.trainables.settings.problems import ConfigError

NESTEROV: dict[str, Any] = {"momentum": 0.9, "nesterov": True}


@pytest.mark.parametrize(
    ("name", "epochs", "batch_size", "weight_decay", "rates"),
    [  # rates: the learning rate of the epochs that the papers name, and of those just before
        ("noised_cifar100", 300, 64, 1e-4, {0: 0.1, 149: 0.1, 150: 0.01, 224: 0.01, 225: 0.001, 299: 0.001}),
        ("two_head_cifar100", 300, 64, 1e-4, {0: 0.1, 149: 0.1, 150: 0.01, 224: 0.01, 225: 0.001, 299: 0.001}),
        ("noised_plantnet300k", 30, 32, 1e-4, {0: 2e-3, 19: 2e-3, 20: 2e-4, 24: 2e-4, 25: 2e-5, 29: 2e-5}),
        ("two_head_plantnet300k", 30, 32, 1e-4, {0: 2e-3, 24: 2e-3, 25: 2e-4, 29: 2e-4}),
        *(
            (f"sawada_cifar100_{kind}", 200, 128, 5e-4, {59: 0.1, 60: 0.02, 119: 0.02, 120: 4e-3, 160: 8e-4, 199: 8e-4})
            for kind in ("cutout", "mixup")
        ),
    ],
)
def test_a_preset_is_the_schedule_of_its_paper(
    name: str, epochs: int, batch_size: int, weight_decay: float, rates: dict[int, float]
) -> None:
    training = check_training({"preset": name})
    assert (training.epochs, training.batch_size, training.keep) == (epochs, batch_size, "best")
    assert training.optimizer == Optimizer(lr=rates.get(0, 0.1), weight_decay=weight_decay, **NESTEROV)
    found = {epoch: learning_rate(training, epoch=epoch, batch_size=batch_size) for epoch in rates}
    assert found == pytest.approx(rates, rel=1e-12)


def test_sawadas_images_are_cropped_flipped_and_cut_out_or_mixed() -> None:
    assert check_training({"preset": "sawada_cifar100_cutout"}).augment == Augmentation(4, flip=True, cutout=8)
    assert check_training({"preset": "sawada_cifar100_mixup"}).augment == Augmentation(4, flip=True, mixup=1.0)


def test_sawadas_points_are_descended_in_full_batches_to_the_last_of_1000_epochs() -> None:
    optimizer = Optimizer(lr=1.0)
    assert check_training({"preset": "sawada_circle"}) == Training(
        epochs=1000, batch_size="full", optimizer=optimizer, keep="last", evaluate_every=100
    )


def test_what_is_given_beside_a_preset_counts() -> None:
    given = {"batch_size": 32, "optimizer": {"lr": 0.05}, "milestones": [1], "augment": {"flip": False}, "ema": 0.9}
    training = check_training({"preset": "two_head_cifar100", **given})
    assert training == Training(
        epochs=300,
        batch_size=32,
        optimizer=Optimizer(lr=0.05, weight_decay=1e-4, **NESTEROV),
        milestones=(1,),
        augment=Augmentation(pad_crop=4),
        ema=0.9,
    )


@pytest.mark.parametrize(
    ("epochs", "milestones"),
    [(300, (150, 225)), (30, (15, 22)), (600, (300, 450)), (3.0, (2,)), (2, (1,)), (1, ())],
)
def test_with_other_epochs_a_preset_keeps_its_shape(epochs: float, milestones: tuple[int, ...]) -> None:
    assert check_training({"preset": "noised_cifar100", "epochs": epochs}).milestones == milestones


def test_another_optimizer_takes_nothing_of_the_presets() -> None:
    training = check_training({"preset": "noised_cifar100", "optimizer": {"name": "adamw", "lr": 1e-3}})
    assert training.optimizer == Optimizer(name="adamw", lr=1e-3)
    assert training.milestones == (150, 225)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_legal_and_say_where_they_are_from(preset: str) -> None:
    check_training({"preset": preset})
    assert PRESETS[preset].name == preset
    assert "et al. (20" in PRESETS[preset].paper
    assert "section" in PRESETS[preset].paper


def test_no_preset_is_a_preset_left_out() -> None:
    assert check_training({"preset": None}) == Training()


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        (
            {"preset": "noised_cifar10"},
            "training.preset: unknown preset 'noised_cifar10'. Did you mean 'noised_cifar100'? Known: "
            f"{', '.join(sorted(PRESETS))}.",
        ),
        ({"preset": 3}, f"training.preset: unknown preset 3. Known: {', '.join(sorted(PRESETS))}."),
        (
            {"preset": "noised_cifar100", "epochs": 0},
            "training.epochs must be >= 1, got 0.\ntraining.milestones must be below training.epochs = 10, got 225.",
        ),
        (
            {"preset": "noised_cifar100", "optimizer": "adam"},
            "training.optimizer must be a mapping, got 'adam'.",
        ),
    ],
)
def test_what_is_wrong_with_a_preset_is_told(plain: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_training(plain)
    assert str(caught.value) == message
