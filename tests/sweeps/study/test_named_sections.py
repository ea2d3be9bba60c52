"""Search spaces in the data and model sections of a study."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Study

Errors = Callable[..., list[str]]
Read = Callable[..., Study]


def text(*, data: str = "{name: digits}", model: str = "{name: small_cnn}", search: str = "{trials: 4}") -> str:
    return f"study: small\ndata: {data}\nmodel: {model}\nk: 2\narms: [cross_entropy, focal]\nsearch: {search}\n"


def test_every_arm_searches_what_data_and_model_search(read_text: Read) -> None:
    study = read_text(
        text(
            data="{name: digits, label_noise: {uniform: [0.1, 0.3]}}",
            model="{name: small_cnn, width: {choice: [4, 8]}}",
        )
    )
    width, noise = (
        Space(kind="choice", choices=(4, 8), default=4),
        Space(kind="uniform", low=0.1, high=0.3, default=0.2),
    )
    for arm in study.arms.values():
        assert arm.searched == {"data.label_noise": noise, "model.width": width}
    assert (study.data["label_noise"], study.model["width"]) == (0.2, 4)


def test_the_default_is_tried_where_it_lies_in_the_space(read_text: Read) -> None:
    spaces = ("{choice: [16, 32]}", "{choice: [4, 8], default: 8}", "{int: [2, 6]}")
    studies = [read_text(text(model=f"{{name: small_cnn, width: {space}}}")) for space in spaces]
    assert [study.model["width"] for study in studies] == [32, 8, 4]


def test_runs_of_the_search_have_the_values_that_were_drawn(read_text: Read) -> None:
    study = read_text(text(model="{name: small_cnn, width: {choice: [4, 8, 16]}}", search="{trials: 3}"))
    runs = [run for run, _ in Planner(study).runs() if run.stage == "search"]
    assert sorted({run.config.model["width"] for run in runs}) == [4, 8, 16]
    assert all(run.params["model.width"] == run.config.model["width"] for run in runs)


def test_more_values_go_with_the_results_that_are_there(read_text: Read) -> None:
    few, more = (read_text(text(model=f"{{name: small_cnn, width: {{choice: {each}}}}}")) for each in ([4, 8], [8, 16]))
    assert few.protocol() == more.protocol()
    assert few.protocol() != read_text(text(model="{name: mlp, hidden: {choice: [4, 8]}}")).protocol()


def test_a_function_of_ones_own_is_searched_and_may_be_given_mappings(read_text: Read) -> None:
    model = "{name: mine:network, width: {int: [2, 8]}, sizes: {small: 1}, how: default_space}"
    study = read_text(text(model=model))
    assert study.arms["focal"].searched == {"model.width": Space(kind="int", low=2, high=8, default=5)}
    assert study.model == {"name": "mine:network", "width": 5, "sizes": {"small": 1}, "how": "default_space"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"data": "{name: circle, sigma: {uniform: [5, 20]}}"}, "study.yaml:2: data.sigma: must be a fixed value or in the grid, as a search would choose the value that is easiest, got {'uniform': [5, 20]}."),
        ({"data": "{name: digits, split_seed: {choice: [0, 1]}}"}, "study.yaml:2: data.split_seed: must be a fixed value or in the grid, as a search would choose the value that is easiest, got {'choice': [0, 1]}."),
        ({"model": "{name: {choice: [mlp, linear]}}"}, "study.yaml:3: model.name: must be one name, or several of them in grid.model.name, got {'choice': ['mlp', 'linear']}."),
        ({"model": "{name: mlp, hidden: {uniform: [2, 5]}}"}, "study.yaml:3: model.hidden: must be searched by int, log_int or choice, as it is a whole number, got 'uniform'."),
        ({"model": "{name: mlp, layers: {chioce: [1, 2]}}"}, "study.yaml:3: model.layers: unknown search space 'chioce'. Did you mean 'choice'? Known: choice, default, int, log_int, log_uniform, uniform."),
        ({"model": "{name: densenet, growth: {choice: [12]}, depth: {choice: [40, 41]}}"}, "study.yaml:3: model.depth: must be"),
    ],
)  # fmt: skip
def test_what_cant_be_searched_says_why(errors_of: Errors, fields: dict[str, str], expected: str) -> None:
    [error] = errors_of(text(**fields))
    assert error.startswith(expected)


def test_a_value_is_searched_or_in_the_grid(errors_of: Errors) -> None:
    study = text(model="{name: small_cnn, width: {choice: [4, 8]}}") + "grid: {model.width: [4, 8]}\n"
    expected = "study.yaml:7: grid.model.width: must be searched or in the grid, got both."
    assert expected in errors_of(study)


def test_a_space_needs_a_search(errors_of: Errors) -> None:
    study = text(model="{name: small_cnn, width: {choice: [4, 8]}}", search="null")
    assert "study.yaml:3: model.width: must be a fixed value in a study without a search, got choice." in errors_of(
        study
    )
