"""Every row of every table: the JSON schema takes what the row's rule takes, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema.protocols import Validator

from setsweep.losses import LOSSES
from setsweep.sweeps.study.comparing import compare_settings
from setsweep.sweeps.study.design.sensitivity import SENSITIVITY
from setsweep.sweeps.study.protocol import KEEP, RESOURCES, confirm_settings, search_settings
from setsweep.sweeps.study.rules import metrics_rule
from setsweep.sweeps.study.space import KINDS, read_space
from setsweep.trainables.config.presets import PRESETS
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import TABLES, declared_settings
from setsweep.trainables.config.training import nest
from setsweep.trainables.evaluation.metric import accuracies
from setsweep.trainables.settings.setting import Setting

Accepts = Callable[[dict[str, Any]], bool]
Place = Callable[[Any], dict[str, Any]]

SMALL = {"study": "s", "data": {"name": "digits"}, "model": {"name": "linear"}, "k": 2, "arms": {"focal": None}}
ROWS = [(section, name) for section in TABLES for name in TABLES[section]]
SETTINGS = [(*row, key) for row in ROWS for key in declared_settings(row[0], {"name": row[1]})]
HYPERPARAMETERS = [(name, key) for name in LOSSES for key in LOSSES[name].hyperparameters]

NUMBERS = (-1, -0.5, 0, 1e-9, 0.5, 1, 1.0, 1.5, 2, 3, 1e9)
TEXTS = ("", "x", "auto", "full", "sgd", "best", "/a/b.pt", "a.pt")
LISTS: tuple[list[Any], ...] = ([], [1], [1, 2], [1, 1], [0, 1], [0.5, 0.9], [0.5, 1.5], [1, 2, 3], ["x"], [None])
RANGES = ([0.2, 0.5], [1, 3], [1.5, 3], [0, 2], [-1, 0.5], [0.5], [1, 2, 3], [1, "x"], [1, 1], [], 3, None)
CHOICES = ([1], [1, 1.0], [0.5, 1], [-1], [True], [True, False], ["full", 1], [None], ["x"], [[1]], [{}], [])
SPACES = (
    "default_space",
    {},
    {"default": 1},
    {"log_unifrom": [0.1, 1]},
    {"choice": [1], "int": [1, 3]},
    {"choice": [1], "x": 1},
    *({kind: ends} for kind in KINDS for ends in RANGES if kind != "choice"),
    *({"choice": choices} for choices in CHOICES),
    *({"int": [1, 3], "default": default} for default in (2, -1, 0.5, None, "x", True)),
)


@pytest.fixture
def accepts(validator: Validator) -> Accepts:
    """Calls tell whether a small study with these fields validates."""
    return lambda fields: validator.is_valid(SMALL | fields)


def plain(value: Any) -> Any:
    """As a file would hold it."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def ends(setting: Setting) -> Iterator[float]:
    """The bounds of its numbers."""
    for numbers in setting.rule.schema.get("anyOf", [setting.rule.schema]):
        yield from (value for key, value in numbers.items() if key.endswith(("inimum", "aximum")))


def probes(setting: Setting) -> Iterator[Any]:
    """Values of every kind, and numbers on both sides of every bound."""
    yield from (None, True, False, {}, *TEXTS, *LISTS, *NUMBERS)
    for end in ends(setting):
        yield from (end, end - 1, end + 1, end - 1e-6, end + 1e-6)
    for legal in setting.rule.schema.get("anyOf", [setting.rule.schema]):
        yield from legal.get("enum", ())


def agreed(accepts: Accepts, setting: Setting, place: Place) -> tuple[int, int]:
    """How many values were legal and how many were not, by rule and schema alike."""
    legal = illegal = 0
    for value in probes(setting):
        try:
            setting.check(value)
        except ValueError as error:
            assert not accepts(place(value)), f"{place(value)}, but it {error}"
            illegal += 1
        else:
            assert accepts(place(value)), place(value)
            legal += 1
    return legal, illegal


@pytest.mark.parametrize(("section", "name", "key"), SETTINGS)
def test_a_setting_of_a_row_takes_what_its_rule_takes(accepts: Accepts, section: str, name: str, key: str) -> None:
    setting = declared_settings(section, {"name": name})[key]

    def place(value: Any) -> dict[str, Any]:
        return {"arms": {name: {key: value}}} if section == "loss" else {section: {"name": name, key: value}}

    if (section, key) != ("loss", "k"):  # whose default is the study's
        assert accepts(place(setting.default))
    legal, illegal = agreed(accepts, setting, place)
    assert legal
    assert illegal


@pytest.mark.parametrize("path", TRAINING)
def test_a_setting_of_training_takes_what_its_rule_takes(accepts: Accepts, path: str) -> None:
    setting, key = TRAINING[path], f"training.{path}"
    places: tuple[Place, ...] = (
        lambda value: {"training": nest({path: value})},
        lambda value: {"arms": {"focal": {key: value}}},
        lambda value: {"arms": {"mine": {"loss": "avgk", key: value}}},
        lambda value: {"grid": {key: [value]}},
    )
    for place in places:
        assert accepts(place(plain(setting.default)))
        legal, illegal = agreed(accepts, setting, place)
        assert legal
        assert illegal


@pytest.mark.parametrize(("section", "name", "key"), [row for row in SETTINGS if row[0] != "loss"])
def test_the_grid_takes_what_the_rules_of_the_studys_data_and_model_take(
    accepts: Accepts, section: str, name: str, key: str
) -> None:
    setting = declared_settings(section, {"name": name})[key]

    def place(*values: Any) -> dict[str, Any]:
        return {section: {"name": name}, "grid": {f"{section}.{key}": list(values)}}

    legal, illegal = agreed(accepts, setting, place)
    assert legal
    assert illegal
    assert not accepts(place())
    assert not accepts(place(setting.default, setting.default))


@pytest.mark.parametrize(("section", "name"), [row for row in ROWS if row[0] != "loss"])
def test_the_grid_takes_no_setting_of_other_data_or_another_model(accepts: Accepts, section: str, name: str) -> None:
    own = declared_settings(section, {"name": name})
    for other in TABLES[section]:
        for key, setting in declared_settings(section, {"name": other}).items():
            grid = {f"{section}.{key}": [setting.default]}
            assert accepts({section: {"name": name}, "grid": grid}) == (key in own), grid


@pytest.mark.parametrize("section", ["data", "model"])
def test_the_grid_takes_any_setting_of_a_function_of_ones_own_but_its_name(accepts: Accepts, section: str) -> None:
    own = {section: {"name": "mine:function", "size": [1]}}
    assert accepts(own | {"grid": {f"{section}.size": [[1], [1.0], {"a": None}]}})
    for key, legal in (("name", False), ("root", section == "model"), ("download", section == "model")):
        assert accepts(own | {"grid": {f"{section}.{key}": ["x"]}}) == legal


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        ("search", search_settings(())),
        ("confirm", confirm_settings()),
        ("sensitivity", SENSITIVITY),
        ("compare", compare_settings(None, ())),
        ("keep", KEEP),
        ("resources", RESOURCES),
    ],
)
def test_a_section_takes_what_its_rules_take(accepts: Accepts, section: str, settings: dict[str, Setting]) -> None:
    for name, setting in settings.items():
        if name in ("objective", "metrics", "show", "baseline"):  # which follow from the rest of the study
            continue

        def place(value: Any, name: str = name) -> dict[str, Any]:
            return {section: {name: value}}

        assert accepts(place(plain(setting.default)))
        legal, illegal = agreed(accepts, setting, place)
        assert legal
        assert illegal


@pytest.mark.parametrize("k", [1, 5, 120])
def test_every_metric_of_a_study_can_be_named(accepts: Accepts, k: int) -> None:
    for metric in accuracies([k]):
        assert accepts({"search": {"objective": metric.on("val").name}})
        assert not accepts({"search": {"objective": metric.on("test").name}})
    names = metrics_rule([k]).schema["items"]["anyOf"][0]["enum"]
    assert len(names) > 8
    assert accepts({"compare": {"metrics": names}})
    assert accepts({"compare": {"show": [f"{name}@macro_top{k}_accuracy" for name in names]}})
    assert accepts({"compare": {"show": []}})
    assert not accepts({"compare": {"show": [f"{names[0]}@loss"]}})
    for wrong in ([names[0], names[0]], [names[0] + "_"], ["val/top1_accuracy"], []):
        assert not accepts({"compare": {"metrics": wrong}})


def test_every_preset_can_be_named(accepts: Accepts) -> None:
    assert all(accepts({"training": {"preset": name}}) for name in PRESETS)


def agreed_on_spaces(accepts: Accepts, setting: Setting, place: Place) -> tuple[int, int]:
    """How many search spaces were legal and how many were not, by what reads them and by the schema."""
    legal = illegal = 0
    for space in (*SPACES, {"choice": [plain(setting.default)]}, plain(setting.search or {})):
        try:
            read_space(space, setting, default=setting.default)
        except ValueError as error:
            assert not accepts(place(space)), f"{place(space)}, but it {error}"
            illegal += 1
        else:
            assert accepts(place(space)), place(space)
            legal += 1
    return legal, illegal


@pytest.mark.parametrize(("name", "key"), HYPERPARAMETERS)
def test_a_hyperparameter_is_searched_as_its_rule_lets_it(accepts: Accepts, name: str, key: str) -> None:
    setting = declared_settings("loss", {"name": name})[key]
    legal, illegal = agreed_on_spaces(accepts, setting, lambda space: {"arms": {name: {key: space}}})
    assert legal
    assert illegal
    named = agreed_on_spaces(accepts, setting, lambda space: {"arms": {"mine": {"loss": name, key: space}}})
    assert named == (legal, illegal)


@pytest.mark.parametrize(("section", "name", "key"), [row for row in SETTINGS if row[0] != "loss"])
def test_a_setting_of_data_or_model_is_searched_unless_it_decides_what_is_measured(
    accepts: Accepts, section: str, name: str, key: str
) -> None:
    setting = declared_settings(section, {"name": name})[key]

    def place(space: Any) -> dict[str, Any]:
        return {section: {"name": name, key: space}}

    if setting.decides_task:
        assert not accepts(place({"choice": [plain(setting.default)]}))
        return
    legal, illegal = agreed_on_spaces(accepts, setting, place)
    assert legal
    assert illegal


@pytest.mark.parametrize("path", TRAINING)
def test_a_setting_of_training_is_searched_as_its_rule_lets_it(accepts: Accepts, path: str) -> None:
    setting = TRAINING[path]
    legal, illegal = agreed_on_spaces(accepts, setting, lambda space: {"training": nest({path: space})})
    assert illegal
    assert (legal == 0) == isinstance(setting.default, tuple), "lists can't be searched, all else can"
    of_an_arm = agreed_on_spaces(accepts, setting, lambda space: {"arms": {"avgk": {f"training.{path}": space}}})
    assert of_an_arm == (legal, illegal)
