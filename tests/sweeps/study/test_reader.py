"""Studies that are legal: everything typed, every default filled in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setsweep.data.augment import Augmentation
from setsweep.sweeps.study.configuration import plain_config
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.source import bundled_studies
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Compare, Resources, Search, Study
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import Optimizer, Training

Read = Callable[..., Study]

SMALL = "study: small\ndata: {name: digits}\nmodel: {name: linear}\nk: 2\narms: [cross_entropy]\n"


def test_the_example_of_the_design_is_read_entirely(read_text: Read, example: str) -> None:
    study = read_text(example)
    assert study.name == "fashion-losses"
    assert study.about == "Which loss gives the best pairs on Fashion-MNIST?"
    assert study.data["name"] == "fashion_mnist"
    assert study.data["label_noise"] == 0.0
    assert study.model == {"name": "small_cnn", "width": 32}
    assert study.training == {
        "epochs": 10,
        "batch_size": 128,
        "optimizer": {
            "name": "sgd",
            "lr": 0.05,
            "momentum": 0.9,
            "nesterov": True,
            "weight_decay": 0.0,
            "betas": [0.9, 0.999],
        },
        "milestones": [6, 8],
        "gamma": 0.1,
        "keep": "best",
        "evaluate_every": 1,
        "threshold_scores": None,
        "head": "ml",
        "reference_batch_size": None,
        "device": "auto",
        "warmup_epochs": 0,
        "clip_norm": None,
        "ema": 0.0,
        "patience": None,
        "precision": "float32",
        "compile": False,
        "augment": {"pad_crop": 0, "flip": False, "cutout": 0, "mixup": 0.0},
    }
    assert study.k == (2, 3)
    assert study.arms == {
        "cross_entropy": Arm(name="cross_entropy", loss="cross_entropy"),
        "avgk": Arm(
            name="avgk",
            loss="avgk",
            fixed={"loss.k": 2},
            searched={"loss.alpha": Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)},
        ),
        "noised_topk_hinge": Arm(
            name="noised_topk_hinge",
            loss="noised_topk_hinge",
            fixed={"loss.k": 2, "loss.num_samples": 3},
            searched={"loss.epsilon": Space(kind="log_uniform", low=0.01, high=10.0, default=0.2)},
        ),
    }
    assert list(study.arms) == ["cross_entropy", "avgk", "noised_topk_hinge"]
    assert study.grid == {"data.label_noise": (0.0, 0.2)}
    assert study.points() == [{"data.label_noise": 0.0}, {"data.label_noise": 0.2}]
    assert study.search == Search(trials=12, sampler="tpe", objective="val/avg2_accuracy", seeds=(1000, 1001), batch=4)
    assert study.confirm_seeds == (0, 1, 2, 3, 4)
    assert study.compare == Compare(
        baseline="cross_entropy",
        confidence=0.95,
        correction="holm",
        metrics=("test/top2_accuracy", "test/avg2_accuracy", "test/top3_accuracy", "test/avg3_accuracy"),
    )
    assert study.resources == Resources(cpus=1, gpus=0)
    assert (study.data_root, study.download, study.path, study.notes) == (None, False, "study.yaml", ())


def test_a_small_study_has_every_default(read_text: Read) -> None:
    study = read_text(SMALL)
    assert study.training["epochs"] == Training().epochs
    assert study.k == (2,)
    assert study.arms == {"cross_entropy": Arm(name="cross_entropy", loss="cross_entropy")}
    assert study.points() == [{}]
    assert study.search is None
    assert study.confirm_seeds == (0, 1, 2, 3, 4)
    assert study.compare.baseline == "cross_entropy"
    assert study.resources == Resources()


def test_sections_left_empty_are_sections_left_out(read_text: Read) -> None:
    empty = "".join(f"{section}:\n" for section in ("training", "grid", "search", "confirm", "compare", "resources"))
    assert read_text(SMALL + empty).protocol() == read_text(SMALL).protocol()


@pytest.mark.parametrize("name", bundled_studies())
def test_bundled_studies_are_legal_and_bear_their_own_name(name: str) -> None:
    assert read_study(name).name == name


def test_where_the_data_lies_is_not_what_it_is(read_text: Read) -> None:
    study = read_text(SMALL.replace("{name: digits}", "{name: digits, root: /data, download: true}"))
    assert (study.data_root, study.download) == ("/data", True)
    assert study.data == read_text(SMALL).data


def test_whole_numbers_given_for_real_ones_become_real(read_text: Read) -> None:
    text = SMALL.replace("[cross_entropy]", "{avgk: {alpha: 2}}")
    text += "training: {optimizer: {lr: 1}, milestones: [2.0]}\ngrid: {data.label_noise: [0, 1]}\n"
    study = read_text(text)
    assert repr(study.arms["avgk"].fixed["loss.alpha"]) == "2.0"
    assert repr(study.training["optimizer"]["lr"]) == "1.0"
    assert repr(study.training["milestones"]) == "[2]"
    assert repr(study.grid["data.label_noise"]) == "(0.0, 1.0)"


def test_two_arms_may_use_one_loss(read_text: Read) -> None:
    study = read_text(SMALL.replace("[cross_entropy]", "{mild: {loss: avgk, alpha: 0.5}, strong: {loss: avgk, k: 3}}"))
    assert study.arms == {
        "mild": Arm(name="mild", loss="avgk", fixed={"loss.k": 2, "loss.alpha": 0.5}),
        "strong": Arm(name="strong", loss="avgk", fixed={"loss.k": 3}),
    }
    assert study.compare.baseline == "mild"


@pytest.mark.parametrize(
    ("overrides", "k"),
    [
        (["search.objective=val/macro_top3_accuracy"], 3),
        (["search={}"], 2),
        (["search={}", "arms.avgk.k=4"], 4),
    ],
)
def test_a_loss_is_made_for_its_own_k_or_the_objectives(
    read_text: Read, example: str, overrides: list[str], k: int
) -> None:
    assert read_text(example, *overrides).arms["avgk"].fixed["loss.k"] == k


def test_without_a_search_a_loss_is_made_for_the_first_k(read_text: Read) -> None:
    study = read_text(SMALL.replace("k: 2", "k: [3, 4]").replace("cross_entropy", "avgk"))
    assert study.arms["avgk"].fixed == {"loss.k": 3}


def test_default_space_is_the_range_of_the_loss(read_text: Read, example: str) -> None:
    arm = read_text(example, "arms.noised_topk_hinge={epsilon: default_space, num_samples: default_space}")
    assert arm.arms["noised_topk_hinge"].searched == {
        "loss.epsilon": Space(kind="log_uniform", low=0.01, high=10.0, default=0.2),
        "loss.num_samples": Space(kind="int", low=1, high=50, default=10),
    }


def test_searched_training_values_are_searched_by_every_arm_that_does_not_fix_them(
    read_text: Read, example: str
) -> None:
    study = read_text(
        example,
        "training.optimizer.lr={log_uniform: [1e-3, 1e-2]}",
        "training.batch_size={choice: [128, full]}",
        "arms.cross_entropy.training.optimizer.lr=0.3",
        "arms.avgk.training.optimizer.lr={uniform: [0.05, 1], default: 0.5}",
    )
    batch_size = Space(kind="choice", choices=(128, "full"), default=128)
    middle = Space(kind="log_uniform", low=0.001, high=0.01, default=pytest.approx(10**-2.5))
    assert study.arms["cross_entropy"].fixed == {"training.optimizer.lr": 0.3}
    assert study.arms["cross_entropy"].searched == {"training.batch_size": batch_size}
    assert study.arms["avgk"].searched["training.optimizer.lr"] == Space(
        kind="uniform", low=0.05, high=1.0, default=0.5
    )
    assert study.arms["noised_topk_hinge"].searched["training.optimizer.lr"] == middle
    assert "lr" not in study.training["optimizer"]
    assert "batch_size" not in study.training


def test_an_arms_searched_training_value_starts_from_the_studys(read_text: Read, example: str) -> None:
    study = read_text(example, "arms.avgk.training.optimizer.lr={uniform: [0.01, 1]}")
    assert study.arms["avgk"].searched["training.optimizer.lr"].default == 0.05


def test_every_run_of_a_study_is_a_legal_configuration(read_text: Read, example: str) -> None:
    study = read_text(example)
    arm = study.arms["avgk"]
    plain = plain_config(study, arm, {"data.label_noise": 0.2}, {"loss.alpha": 3.0}, seed=4, test=True)
    config = complete_config(plain)
    assert (config.loss["name"], config.loss["alpha"], config.loss["k"]) == ("avgk", 3.0, 2)
    assert config.data["label_noise"] == 0.2
    assert config.training.optimizer == Optimizer(lr=0.05, momentum=0.9, nesterov=True)
    assert (config.k, config.seed, config.test) == ((2, 3), 4, True)
    assert study.data["label_noise"] == 0.0, "the study stays as it is"


def test_the_grid_may_hold_training_and_model_values(read_text: Read, example: str) -> None:
    study = read_text(example, "grid={model.width: [8, 16], training.milestones: [[6], [6, 8]]}")
    assert study.grid == {"model.width": (8, 16), "training.milestones": ((6,), (6, 8))}
    assert len(study.points()) == 4


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


@pytest.mark.parametrize(
    ("search", "confirm", "expected"),
    [
        ("3", "2", ((1000, 1001, 1002), (0, 1))),
        ("[7, 5]", "[8, 1]", ((7, 5), (8, 1))),
    ],
)
def test_seeds_are_a_number_or_a_list(read_text: Read, example: str, search: str, confirm: str, expected: Any) -> None:
    study = read_text(example, f"search.seeds={search}", f"confirm.seeds={confirm}")
    assert study.search
    assert (study.search.seeds, study.confirm_seeds) == expected


def test_metrics_to_compare_can_be_chosen(read_text: Read, example: str) -> None:
    metrics = "[test/macro_avg3_accuracy, test/macro_top2_accuracy_few, test/avg2_set_size]"
    assert read_text(example, f"compare.metrics={metrics}").compare.metrics == tuple(metrics.strip("[]").split(", "))


def test_an_override_of_the_epochs_takes_the_milestones_along_and_says_so(read_text: Read, example: str) -> None:
    study = read_text(example, "training.epochs=7")
    assert study.training["milestones"] == [6]
    assert study.notes == ("training.milestones: [8] left out, as they must be below training.epochs = 7.",)
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


def test_settings_of_augmentation_can_be_searched_and_gridded(read_text: Read) -> None:
    training = "training: {augment: {cutout: {int: [0, 8]}}}\n"
    study = read_text(f"{SMALL}{training}grid: {{training.augment.flip: [true, false]}}\nsearch: {{}}\n")
    arm = study.arms["cross_entropy"]
    assert arm.searched["training.augment.cutout"] == Space(kind="int", low=0, high=8, default=0)
    point, values = {"training.augment.flip": True}, {"training.augment.cutout": 3}
    training = complete_config(plain_config(study, arm, point, values, seed=0, test=False)).training
    assert training.augment == Augmentation(flip=True, cutout=3)


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


def test_the_protocol_of_a_study_from_before_later_settings_came_is_its_protocol(read_text: Read, example: str) -> None:
    plain, cut_out = read_text(example).protocol(), read_text(example, "training.augment.cutout=8").protocol()
    assert set(plain["training"]) == {
        "epochs", "batch_size", "optimizer", "milestones", "gamma", "keep", "evaluate_every", "threshold_scores",
        "head", "reference_batch_size", "device",
    }  # fmt: skip
    assert cut_out["training"] == {**plain["training"], "augment": {"cutout": 8}}


def test_the_text_is_the_study_with_its_overrides(read_text: Read, example: str) -> None:
    study = read_text(example, "search.trials=3", "about=1e-3 of it")
    again = read_text(study.text)
    assert again == study
    assert again.text == study.text
    assert "about: 1e-3 of it" in study.text
