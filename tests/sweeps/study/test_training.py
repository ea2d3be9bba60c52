"""The training block of a study: fixed and searched values, presets, and what scales the learning rate."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.data.augmentation import Augmentation
from setsweep.sweeps.study.design.configuration import plain_config
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.presets import PRESETS
from setsweep.trainables.config.run_config import TRAINING

Errors = Callable[..., list[str]]
Read = Callable[..., Study]

SMALL = "study: small\ndata: {name: digits}\nmodel: {name: linear}\nk: 2\narms: [cross_entropy]\n"


@pytest.mark.parametrize(
    ("training", "reference"),
    [
        ("{batch_size: 64, keep_lr_per_example: true}", 64),
        ("{keep_lr_per_example: true}", 128),
        ("{keep_lr_per_example: false}", None),
        ("{batch_size: 64, keep_lr_per_example: true, reference_batch_size: 32}", 32),
        ("{batch_size: {choice: [32, 64]}, keep_lr_per_example: true, reference_batch_size: 32}", 32),
    ],
)
def test_the_learning_rate_per_example_is_kept_from_the_studys_batch_size(
    read_text: Read, training: str, reference: int | None
) -> None:
    search = "search: {}\n" if "choice" in training else ""
    assert read_text(f"{SMALL}training: {training}\n{search}").training["reference_batch_size"] == reference


def test_an_override_of_the_epochs_takes_the_milestones_along_and_says_so(read_text: Read, example: str) -> None:
    study = read_text(example, "training.epochs=8")
    assert study.training["milestones"] == [6]
    assert study.notes == ("training.milestones: [8] left out, as they must be below training.epochs = 8.",)
    assert read_text(study.text).training == study.training


def test_a_preset_fills_in_what_a_study_leaves_out(read_text: Read) -> None:
    study = read_text(f"{SMALL}training: {{preset: two_head_plantnet300k, batch_size: 64, optimizer: {{lr: 0.01}}}}\n")
    training = study.training
    assert (training["epochs"], training["batch_size"], training["milestones"]) == (30, 64, [25])
    assert training["optimizer"] == {
        "name": "sgd", "lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-4, "betas": [0.9, 0.999]
    }  # fmt: skip
    assert study.notes == ()


def test_runs_of_a_preset_have_the_keys_of_its_values(read_text: Read) -> None:
    preset = read_text(f"{SMALL}training: {{preset: sawada_circle}}\n")
    spelled = read_text(
        f"{SMALL}training: {{epochs: 1000, batch_size: full, optimizer: {{lr: 1}}, keep: last, evaluate_every: 100}}\n"
    )
    keys = [
        complete_config(plain_config(study, study.arms["cross_entropy"], {}, {}, seed=0, test=True)).key
        for study in (preset, spelled)
    ]
    assert keys[0] == keys[1]
    assert preset.protocol() == spelled.protocol()


def test_a_preset_over_a_study_fills_in_only_what_the_study_leaves_out(read_text: Read, example: str) -> None:
    training = read_text(example, "training.preset=sawada_cifar100_cutout").training
    assert (training["epochs"], training["milestones"], training["gamma"]) == (10, [6, 8], 0.2)
    assert training["augment"] == {"pad_crop": 4, "flip": True, "cutout": 8, "mixup": 0.0}
    assert training["optimizer"]["lr"] == 0.05


@pytest.mark.parametrize("overrides", [[], ["training.epochs=30"]])
def test_other_epochs_move_the_milestones_of_a_preset_and_say_so(read_text: Read, overrides: list[str]) -> None:
    epochs = "" if overrides else ", epochs: 30"
    study = read_text(f"{SMALL}training: {{preset: noised_cifar100{epochs}}}\n", *overrides)
    assert study.training["milestones"] == [15, 22]
    assert study.notes == (
        "training.milestones: [15, 22] instead of [150, 225] of preset noised_cifar100, as training.epochs is 30 "
        "instead of 300.",
    )
    assert read_text(study.text).training == study.training


def test_searched_values_beside_a_preset_are_searched(read_text: Read) -> None:
    study = read_text(
        f"{SMALL}training: {{preset: noised_cifar100, optimizer: {{lr: {{log_uniform: [0.01, 1]}}}}}}\nsearch: {{}}\n"
    )
    assert study.arms["cross_entropy"].searched["training.optimizer.lr"].kind == "log_uniform"
    assert "lr" not in study.training["optimizer"]
    assert study.training["optimizer"]["momentum"] == 0.9


@pytest.mark.parametrize(
    ("training", "reference"),
    [
        ("{preset: noised_cifar100, batch_size: 256, keep_lr_per_example: true}", 64),
        ("{preset: noised_cifar100, batch_size: {choice: [32, 256]}, keep_lr_per_example: true}", 64),
        ("{preset: noised_cifar100, batch_size: 256, optimizer: {lr: 0.3}, keep_lr_per_example: true}", 256),
        ("{preset: noised_cifar100, batch_size: 256, keep_lr_per_example: true, reference_batch_size: 32}", 32),
        ("{preset: sawada_circle, batch_size: 256, keep_lr_per_example: true}", 256),
        ("{preset: noised_cifar100, batch_size: 256}", None),
    ],
)
def test_a_presets_learning_rate_per_example_is_kept_from_its_own_batch_size(
    read_text: Read, training: str, reference: int | None
) -> None:
    search = "search: {}\n" if "choice" in training else ""
    assert read_text(f"{SMALL}training: {training}\n{search}").training["reference_batch_size"] == reference


def test_settings_of_augmentation_can_be_searched_and_gridded(read_text: Read) -> None:
    training = "training: {augment: {cutout: {int: [0, 8]}}}\n"
    study = read_text(f"{SMALL}{training}grid: {{training.augment.flip: [true, false]}}\nsearch: {{}}\n")
    arm = study.arms["cross_entropy"]
    assert arm.searched["training.augment.cutout"] == Space(kind="int", low=0, high=8, default=0)
    point, values = {"training.augment.flip": True}, {"training.augment.cutout": 3}
    training = complete_config(plain_config(study, arm, point, values, seed=0, test=False)).training
    assert training.augment == Augmentation(flip=True, cutout=3)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("epochs: 10", "epochs: 0", "5: training.epochs: must be >= 1, got 0."),
        ("epochs: 10", "epochs: ten", "5: training.epochs: must be a whole number >= 1, got 'ten'."),
        ("epochs: 10", "epochs: 1.5", "5: training.epochs: must be a whole number >= 1, got 1.5."),
        ("epochs: 10", "epochs: .inf", "5: training.epochs: must be a whole number >= 1, got inf."),
        ("batch_size: 128", "batch_size: all", "5: training.batch_size: must be a whole number >= 1 or full, got 'all'."),
        ("batch_size: 128", "batch_size: 0", "5: training.batch_size: must be >= 1 or full, got 0."),
        ("lr: 0.05", "lr: 0", "5: training.optimizer.lr: must be > 0, got 0."),
        ("lr: 0.05", "lr: fast", "5: training.optimizer.lr: must be a number > 0, got 'fast'."),
        ("lr: 0.05", "lrr: 0.05", f"5: training.optimizer.lrr: unknown setting 'optimizer.lrr'. Did you mean 'optimizer.lr'? Known: {', '.join(sorted([*TRAINING, 'keep_lr_per_example', 'preset']))}."),
        ("name: sgd", "name: sdg", "5: training.optimizer.name: must be one of sgd, adam, adamw, got 'sdg'. Did you mean 'sgd'?"),
        ("momentum: 0.9, nesterov: true", "momentum: 1.0", "5: training.optimizer.momentum: must be >= 0 and < 1, got 1.0."),
        ("name: sgd, lr: 0.05, momentum: 0.9, nesterov: true", "name: adam, betas: [0.9]", "5: training.optimizer.betas: must be a list of 2, got [0.9]."),
        ("optimizer: {name: sgd, lr: 0.05, momentum: 0.9, nesterov: true}", "optimizer: sgd", "5: training.optimizer: must be a mapping, got 'sgd'."),
        ("milestones: [6, 8]", "milestones: [8, 6]", "5: training.milestones: must be ascending, got [8, 6]."),
        ("milestones: [6, 8]", "milestones: 6", "5: training.milestones: must be a list, got 6."),
        ("milestones: [6, 8]", "milestones: [0]", "5: training.milestones: must be >= 1, got 0."),
        ("milestones: [6, 8]", "keep: first", "5: training.keep: must be one of best, last, got 'first'."),
        ("milestones: [6, 8]", "preset: sawada_circl", f"5: training.preset: unknown preset 'sawada_circl'. Did you mean 'sawada_circle'? Known: {', '.join(sorted(PRESETS))}."),
        ("milestones: [6, 8]", "preset: [sawada_circle]", f"5: training.preset: unknown preset ['sawada_circle']. Did you mean 'sawada_circle'? Known: {', '.join(sorted(PRESETS))}."),
        ("milestones: [6, 8]", "augment: {flipp: true}", f"5: training.augment.flipp: unknown setting 'augment.flipp'. Did you mean 'augment.flip'? Known: {', '.join(sorted([*TRAINING, 'keep_lr_per_example', 'preset']))}."),
        ("milestones: [6, 8]", "augment: {flip: {choice: [1, 2]}}", "5: training.augment.flip: must be true or false, got 1."),
        ("milestones: [6, 8]", "augment: flip", "5: training.augment: must be a mapping, got 'flip'."),
        ("milestones: [6, 8]", "keep_lr_per_example: 1", "5: training.keep_lr_per_example: must be true or false, got 1."),
        ("batch_size: 128", "batch_size: full, keep_lr_per_example: true", "5: training.keep_lr_per_example: must have a training.reference_batch_size where training.batch_size is full, got none."),
        ("batch_size: 128", "batch_size: {choice: [64, 128]}, keep_lr_per_example: true", "5: training.keep_lr_per_example: must have a training.reference_batch_size where training.batch_size is searched, got none."),
        ("lr: 0.05", "lr: {log_uniform: [0, 1]}", "5: training.optimizer.lr: must be searched with low > 0 on a log scale, got [0, 1]."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_error_with_its_line(mistake: Errors, before: str, after: str, message: str) -> None:
    assert mistake(before, after) == [f"study.yaml:{message}"]


def test_settings_of_a_section_stand_in_it(mistake: Errors) -> None:
    [error] = mistake("milestones: [6, 8]", "optimizer.lr: 1")
    assert error.startswith("study.yaml:5: training.optimizer.lr: unknown setting 'optimizer.lr'.")


def test_the_files_own_milestones_are_not_taken_along_by_its_own_epochs(mistake: Errors) -> None:
    assert mistake("epochs: 10", "epochs: 7") == [
        "study.yaml:5: training.milestones: must be below training.epochs = 7, got 8."
    ]


def test_milestones_that_fit_the_overridden_epochs_stay(read_text: Read, example: str) -> None:
    study = read_text(example, "training.epochs=9")
    assert (study.training["milestones"], study.notes) == ([6, 8], ())
    study = read_text(SMALL, "training.epochs=9")
    assert (study.training["epochs"], study.training["milestones"], study.notes) == (9, [], ())


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.epochs=few", "training.epochs: must be a whole number >= 1, got 'few'."),
        ("training.epochs={int: [1, 9]}", "training.milestones: must be below training.epochs = 1, got 8."),
    ],
)
def test_epochs_that_are_no_number_take_nothing_along(
    errors_of: Errors, example: str, override: str, message: str
) -> None:
    assert errors_of(example, override)[-1].endswith(f": {message}")


def test_a_searched_value_outside_of_which_the_default_lies_starts_in_its_middle(read_text: Read) -> None:
    """The default of 128 is none of these; what is tried lies inside what was asked for."""
    study = read_text(f"{SMALL}training: {{batch_size: {{log_int: [16, 64]}}}}\nsearch: {{}}\n")
    assert study.arms["cross_entropy"].searched["training.batch_size"].default == 32  # sqrt(16 * 64)


@pytest.mark.parametrize("reference", ["32", "{choice: [32, 64]}"])
def test_a_reference_that_is_not_to_be_used_is_refused(read_text: Read, reference: str) -> None:
    search = "search: {}\n" if "choice" in reference else ""
    with pytest.raises(StudyError, match=r"keep_lr_per_example: must be true or left out .* got false\."):
        read_text(f"{SMALL}training: {{keep_lr_per_example: false, reference_batch_size: {reference}}}\n{search}")
    assert read_text(f"{SMALL}training: {{keep_lr_per_example: false, reference_batch_size: null}}\n")
