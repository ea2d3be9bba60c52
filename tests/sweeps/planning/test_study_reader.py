"""Studies that are legal: everything typed, every default filled in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sweeps.planning.configuration import plain_config
from sweeps.planning.space import Space
from sweeps.planning.study import Arm, Compare, Resources, Search, Study
from sweeps.planning.study_reader import read_study
from sweeps.planning.yaml_source import bundled_studies
from trainables.run_check import complete_config
from trainables.run_config import Optimizer, Training

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


def test_the_text_is_the_study_with_its_overrides(read_text: Read, example: str) -> None:
    study = read_text(example, "search.trials=3", "about=1e-3 of it")
    again = read_text(study.text)
    assert again == study
    assert again.text == study.text
    assert "about: 1e-3 of it" in study.text
