"""One row a setting, whoever declares it: a dataclass, a loss or a data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from setsweep.data.declaration import DataSetting
from setsweep.losses.declaration import Hyperparameter
from setsweep.trainables.settings.rules import Rule, flag, one_of, real, whole
from setsweep.trainables.settings.setting import Setting, declared, of_row, settings_of


@dataclass(frozen=True)
class Inner:
    """A section."""

    rate: float = declared(real(above=0), 0.5, "how fast")


@dataclass(frozen=True)
class Outer:
    """Settings, and a section of them."""

    steps: int = declared(whole(1), 3, "how many", unit="steps", later=True)
    inner: Inner = field(default_factory=Inner)


def test_a_declared_field_has_its_default_and_its_row() -> None:
    assert Outer() == Outer(steps=3, inner=Inner(rate=0.5))
    settings = settings_of(Outer)
    assert list(settings) == ["steps", "inner.rate"]
    row = settings["steps"]
    assert (row.default, row.about, row.unit, row.later, row.search) == (3, "how many", "steps", True, None)
    assert (row.check(4.0), settings["inner.rate"].later) == (4, False)
    with pytest.raises(ValueError, match=r"^must be > 0, got 0\.$"):
        settings["inner.rate"].check(0)


def test_the_row_of_a_setting_is_itself() -> None:
    setting = Setting(flag(), True, "whether")
    assert of_row(setting) is setting


def test_a_hyperparameter_brings_its_search_range() -> None:
    row = Hyperparameter(default=1.0, above=0, search={"log_uniform": (0.1, 10.0)}, unit="scores", about="how much")
    setting = of_row(row)
    assert setting == Setting(setting.rule, 1.0, "how much", "scores", {"log_uniform": (0.1, 10.0)})
    assert setting.rule.words == "a number > 0"


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        (Hyperparameter(default=3, low=1, high=50), whole(1, high=50)),
        (Hyperparameter(default=3.0, above=0), real(above=0)),
        (Hyperparameter(default=True), flag()),
        (DataSetting(default=0, low=0), whole(0)),
        (DataSetting(default=0.5, above=0, below=1), real(above=0, below=1)),
        (DataSetting(default=None, low=10, high=20), whole(10, high=20, besides=(None,))),
        (DataSetting(default=False), flag()),
        (DataSetting(default="memory", choices=("files", "memory")), one_of("files", "memory")),
    ],
)
def test_the_type_of_the_default_decides_what_a_value_must_be(row: Any, rule: Rule) -> None:
    found = of_row(row).rule
    assert (found.type, found.words, found.schema) == (rule.type, rule.words, rule.schema)
    assert found.check(row.default) == row.default


@pytest.mark.parametrize(("default", "words"), [("folder", "text"), ((0.5, 0.25), "plain data")])
def test_data_settings_of_other_types_are_text_or_plain_data(default: Any, words: str) -> None:
    assert of_row(DataSetting(default=default)).rule.words == words
