"""The grid of a study: legal values of data, model and training."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.data import DATASETS
from setsweep.sweeps.study.design.addresses import point_for
from setsweep.sweeps.study.design.configuration import plain_config
from setsweep.sweeps.study.design.grid import read_grid
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.findings import Findings
from setsweep.sweeps.study.text.source import read_source
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import check_data, check_model
from setsweep.trainables.models.table import MODELS

Errors = Callable[..., list[str]]
Read = Callable[..., Study]

GRID = ["data.name", "model.name", *(f"data.{name}" for name in DATASETS["fashion_mnist"].settings)] + [
    f"training.{path}" for path in TRAINING
]


def test_the_grid_may_hold_training_and_model_values(read_text: Read, example: str) -> None:
    study = read_text(example, "grid={model.width: [8, 16], training.milestones: [[6], [6, 8]]}")
    assert study.grid == {"model.width": (8, 16), "training.milestones": ((6,), (6, 8))}
    assert len(study.points()) == 4


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("data.label_noise: [0.0, 0.2]", "data.label_nois: [0]", "11: grid.data.label_nois: unknown grid field 'data.label_nois'. Did you mean 'data.label_noise'? Known: " + ", ".join(sorted(["model.width", *GRID])) + "."),
        ("[0.0, 0.2]", "0.2", "11: grid.data.label_noise: must be a list of values, got 0.2."),
        ("[0.0, 0.2]", "[]", "11: grid.data.label_noise: must be a list of values, got []."),
        ("[0.0, 0.2]", "[0.0, 0]", "11: grid.data.label_noise: must be a list of distinct values, got 0 again."),
        ("[0.0, 0.2]", "[0.0,\n  2]", "12: grid.data.label_noise: must be between 0 and 1, got 2."),
        ("data.label_noise: [0.0, 0.2]", "model.name: [mlp, linea]", "11: grid.model.name: unknown model 'linea'. Did you mean 'linear'? Known: " + ", ".join(sorted(MODELS)) + "."),
        ("data.label_noise: [0.0, 0.2]", "data.name: [digits, fashion_mnists]", "11: grid.data.name: unknown data set 'fashion_mnists'. Did you mean 'fashion_mnist'? Known: " + ", ".join(sorted(DATASETS)) + "."),
        ("data.label_noise: [0.0, 0.2]", "training.epochs: [10, 0]", "11: grid.training.epochs: must be >= 1, got 0."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_error_with_its_line(mistake: Errors, before: str, after: str, message: str) -> None:
    assert mistake(before, after) == [f"study.yaml:{message}"]


def test_a_value_is_in_the_grid_or_elsewhere(errors_of: Errors, example: str) -> None:
    text = example.replace("data.label_noise: [0.0, 0.2]", "training.gamma: [0.1, 0.2], training.batch_size: [32, 64]")
    text = text.replace("num_samples: 3", "training.gamma: 0.5").replace("epochs: 10", "epochs: 10, evaluate_every: 1")
    text = text.replace("batch_size: 128", "batch_size: {choice: [32, 64]}")
    assert errors_of(text) == [
        "study.yaml:10: arms.noised_topk_hinge.training.gamma: must be left to the grid, which has it too.",
        "study.yaml:11: grid.training.batch_size: must be searched or in the grid, got both.",
    ]


def test_a_grid_has_a_bearable_number_of_points() -> None:
    """10 x 100 are 1000, the most."""
    text = f"grid: {{data.split_seed: {list(range(10))}, training.epochs: {list(range(1, 101))}}}"
    findings = Findings(read_source(text, "s.yaml"))
    grid = read_grid(findings, check_data({"name": "digits"}), check_model({"name": "linear"}), {})
    assert [len(values) for values in grid.values()] == [10, 100]
    findings.raise_any()

    findings.source.override("grid.model.bias=[true, false]")
    read_grid(findings, check_data({"name": "digits"}), check_model({"name": "linear"}), {})
    with pytest.raises(StudyError, match=r"^s.yaml:1: grid: must have at most 1000 points, got 2000\.$"):
        findings.raise_any()


def test_the_legal_ones_among_values_are_kept_and_each_other_one_told() -> None:
    findings = Findings(read_source("grid:\n  data.label_noise: [0, 2, 0.5,\n   -1]\n  model.bias: []\n", "s.yaml"))
    grid = read_grid(findings, check_data({"name": "digits"}), check_model({"name": "linear"}), {})
    assert repr(grid) == "{'data.label_noise': (0.0, 0.5)}"
    with pytest.raises(StudyError) as caught:
        findings.raise_any()
    assert caught.value.errors == (
        "s.yaml:2: grid.data.label_noise: must be between 0 and 1, got 2.",
        "s.yaml:3: grid.data.label_noise: must be between 0 and 1, got -1.",
        "s.yaml:4: grid.model.bias: must be a list of values, got [].",
    )


def test_the_grid_may_hold_what_the_studys_data_and_model_have(errors_of: Errors, example: str) -> None:
    [error] = errors_of(example, "grid={data.sigma: [1]}")  # a setting of other data
    assert ": grid.data.sigma: unknown grid field 'data.sigma'. Did you mean 'data.name'? " in error


def test_the_grid_may_hold_values_of_losses_and_of_one_arm(read_text: Read, example: str) -> None:
    study = read_text(example, "grid={loss.k: [1, 2], noised_topk_hinge.training.gamma: [0.1, 0.2]}")
    noised, avgk = study.arms["noised_topk_hinge"], study.arms["avgk"]
    point = study.points()[-1]
    assert point == {"loss.k": 2, "noised_topk_hinge.training.gamma": 0.2}
    assert point_for(point, noised) == {"loss.k": 2, "training.gamma": 0.2}
    assert point_for(point, avgk) == {"loss.k": 2}


def test_an_arm_that_a_point_does_not_concern_has_the_same_runs_at_all_points(read_text: Read, example: str) -> None:
    study = read_text(example, "grid={loss.k: [1, 2]}", "arms.noised_topk_hinge.epsilon=0.1")
    runs = [
        complete_config(plain_config(study, study.arms["cross_entropy"], point, {}, seed=0, test=True))
        for point in study.points()
    ]
    assert runs[0].key == runs[1].key


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("{avgk.alpha: [1]}", "arms.avgk.alpha: must be left to the grid, which has it too."),
        ("{loss.k: [1], avgk.k: [2]}", "grid.avgk.k: must be in the grid once for avgk, got loss.k as well."),
        ("{loss.k: [0]}", "grid.loss.k: must be >= 1, got 0."),
        ("{avgk.k: [3]}", None),
    ],
)
def test_what_a_loss_may_not_have_in_the_grid_is_told(
    read_text: Read, example: str, grid: str, message: str | None
) -> None:
    try:
        read_text(example, f"grid={grid}")
        assert message is None
    except StudyError as error:
        assert message is not None
        assert any(message in each for each in error.errors), error.errors


def test_several_data_sets_are_values_of_the_grid_and_take_along_what_was_given(read_text: Read, example: str) -> None:
    text = example.replace("{name: fashion_mnist}", "{name: fashion_mnist, split_seed: 3}")
    study = read_text(text, "grid={data.name: [fashion_mnist, cifar100], data.label_noise: [0.0, 0.2]}")
    assert len(study.points()) == 4
    for point in study.points():
        config = plain_config(study, study.arms["cross_entropy"], point, {}, seed=0, test=True)
        own = complete_config(config).data
        assert (own["name"], own["split_seed"], own["label_noise"]) == (
            point["data.name"],
            3,
            point["data.label_noise"],
        )


def test_what_another_data_set_does_not_have_is_told(errors_of: Errors, example: str) -> None:
    text = example.replace("{name: fashion_mnist}", "{name: fashion_mnist, subset: 1000}")
    [error] = errors_of(text, "grid={data.name: [fashion_mnist, digits]}")
    assert (
        "grid.data.name: with 'digits', data.subset: unknown setting 'subset'. Known: calibration, label_noise, label_noise_kind, split_seed."
        in error
    )


def test_models_may_be_in_the_grid_each_with_what_differs_from_the_defaults(read_text: Callable[..., Study]) -> None:
    """The width stays that of the model which has one; a name that is the study's own changes nothing."""
    text = "study: s\ndata: {name: digits}\nmodel: {name: linear, bias: false}\nk: 2\narms: [cross_entropy]\n"
    study = read_text(text + "grid: {model.name: [linear, mlp]}\n")
    arm = study.arms["cross_entropy"]
    models = [plain_config(study, arm, point, {}, seed=0, test=False)["model"] for point in study.points()]
    assert [(each["name"], each["bias"]) for each in models] == [("linear", False), ("mlp", False)]
