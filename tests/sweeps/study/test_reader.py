"""A study file is read as a whole: everything typed, every default filled in, all of its errors told at once."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.data import DATASETS
from setsweep.sweeps.study.parts import Compare, Resources
from setsweep.sweeps.study.reader import FIELDS, read_study
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.source import bundled_studies
from setsweep.trainables.config.run_config import Training
from setsweep.trainables.models.table import MODELS

Errors = Callable[..., list[str]]
Read = Callable[..., Study]

KNOWN_FIELDS = ", ".join(sorted(FIELDS))
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


def test_the_text_is_the_study_with_its_overrides(read_text: Read, example: str) -> None:
    study = read_text(example, "search.trials=3", "about=1e-3 of it")
    again = read_text(study.text)
    assert again == study
    assert again.text == study.text
    assert "about: 1e-3 of it" in study.text


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("study: fashion-losses", "study: fashion losses", "1: study: must be a name of letters, digits, - and _, got 'fashion losses'."),
        ("study: fashion-losses", "study: ../x", "1: study: must be a name of letters, digits, - and _, got '../x'."),
        ("study: fashion-losses", "study: 3", "1: study: must be a name of letters, digits, - and _, got 3. A number is a name in quotes: \"3\"."),
        ("study: fashion-losses\n", "", "1: study: must be given, got nothing."),
        ("about: Which loss gives the best pairs on Fashion-MNIST?", "about: [1]", "2: about: must be text, got [1]."),
        ("confirm:", "confrim:", f"13: confrim: unknown field 'confrim'. Did you mean 'confirm'? Known: {KNOWN_FIELDS}."),
        ("data: {name: fashion_mnist}", "data: fashion_mnist", "3: data: must be a mapping, got 'fashion_mnist'."),
        ("data: {name: fashion_mnist}", "data: {}", "3: data.name: must be a name, got null."),
        ("name: fashion_mnist", "name: fashion", f"3: data.name: unknown data set 'fashion'. Did you mean 'fashion_mnist'? Known: {', '.join(sorted(DATASETS))}."),
        ("name: fashion_mnist}", "name: digits, noise: 1}", "3: data.noise: unknown setting 'noise'. Did you mean 'label_noise'? Known: calibration, label_noise, label_noise_kind, split_seed."),
        ("name: fashion_mnist}", "name: digits, label_noise: 2}", "3: data.label_noise: must be between 0 and 1, got 2."),
        ("name: fashion_mnist}", "name: digits, label_noise: a lot}", "3: data.label_noise: must be a number between 0 and 1, got 'a lot'."),
        ("name: fashion_mnist}", "name: fashion_mnist, root: 3}", "3: data.root: must be text, got 3."),
        ("name: fashion_mnist}", "name: fashion_mnist, download: yes}", "3: data.download: must be true or false, got 'yes'."),
        ("name: small_cnn", "name: small_cn", f"4: model.name: unknown model 'small_cn'. Did you mean 'small_cnn'? Known: {', '.join(sorted(MODELS))}."),
        ("name: small_cnn}", "name: small_cnn, wdith: 3}", "4: model.wdith: unknown setting 'wdith'. Did you mean 'width'? Known: width."),
        ("name: small_cnn}", "name: small_cnn, width: 0}", "4: model.width: must be >= 1, got 0."),
        ("k: [2, 3]", "k: [2, 10]", "6: k: must be between 1 and num_classes - 1 = 9, got 10."),
        ("k: [2, 3]", "k: [2, 3, 0]", "6: k: must be between 1 and num_classes - 1 = 9, got 0."),
        ("k: [2, 3]", "k: [3, 2]", "6: k: must be ascending, got [3, 2]."),
        ("k: [2, 3]", "k: [2, 2]", "6: k: must be ascending, got [2, 2]."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_error_with_its_line(mistake: Errors, before: str, after: str, message: str) -> None:
    assert mistake(before, after) == [f"study.yaml:{message}"]


@pytest.mark.parametrize(
    ("k", "rule"),
    [
        ("all", "must be a whole number between 1 and num_classes - 1 = 9, got 'all'."),
        ("[]", "must be a whole number or a list of some, got []."),
        ("0", "must be between 1 and num_classes - 1 = 9, got 0."),
        ("[two, 5]", "must be a whole number between 1 and num_classes - 1 = 9, got 'two'."),
    ],
)
def test_a_broken_k_is_one_error_and_the_rest_is_checked_with_what_is_left_of_it(
    errors_of: Errors, k: str, rule: str
) -> None:
    rest = (
        "search: {objective: val/avg5_accuracy}\narms: {avgk: {alpha: default_space}}\n"
        if "5" in k
        else "arms: [avgk]\n"
    )
    text = SMALL.replace("k: 2\narms: [cross_entropy]\n", f"k: {k}\n{rest}")
    assert errors_of(text) == [f"study.yaml:4: k: {rule}"]


def test_all_errors_are_told_at_once_in_the_order_of_the_file(errors_of: Errors, example: str) -> None:
    text = example.replace("epochs: 10", "epochs: 0").replace("avgk:", "avg_k:").replace("cpus: 1", "cpus: 0")
    errors = errors_of(text.replace("k: [2, 3]", "k: [2, 30]").replace("trials: 12", "trials: x"), "model.width=0")
    assert [error.split(": must")[0].split(": unknown")[0] for error in errors] == [
        "--set model.width=0: model.width",
        "study.yaml:5: training.epochs",
        "study.yaml:6: k",
        "study.yaml:9: arms.avg_k",
        "study.yaml:12: search.trials",
        "study.yaml:15: resources.cpus",
    ]


def test_an_error_in_an_override_names_the_override(errors_of: Errors, example: str) -> None:
    assert errors_of(example, "training.epochs=0") == ["--set training.epochs=0: training.epochs: must be >= 1, got 0."]
    assert errors_of(example, "arms.avgk.alpha=-1") == [
        "--set arms.avgk.alpha=-1: arms.avgk.alpha: must be >= 0, got -1."
    ]
    assert errors_of(example, "trainng.epochs=1") == [
        f"--set trainng.epochs=1: trainng: unknown field 'trainng'. Did you mean 'training'? Known: {KNOWN_FIELDS}."
    ]


def test_a_bundled_study_is_named_as_a_file_in_errors() -> None:
    with pytest.raises(StudyError) as caught:
        read_study("demo", ["data.classes=2"])
    assert caught.value.errors[0].startswith("sweeps/studies/demo.yaml:")
    assert caught.value.errors[0].endswith(": k: must be between 1 and num_classes - 1 = 1, got 2.")
