"""A setting: one row that says all there is to know of a value that a user may give.

From it follow the check in a study and in a run's configuration, the listings, the JSON schema, and what is left out of
run keys. Losses and data sets declare theirs as plain data in terms of their own; `of_row` makes settings of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setsweep.data.declaration import SETTING, DataSetting
from setsweep.losses.declaration import Hyperparameter
from setsweep.losses.values import Number
from setsweep.trainables.settings.rules import Rule, anything, flag, number, one_of, text


@dataclass(frozen=True)
class Setting:
    """What a user may say, and what holds where nothing is said.

    Args:
        rule: what the value must be.
        default: used where nothing is said.
        about: what it does, one phrase.
        unit: what it is counted in; empty where it has none.
        search: what ``default_space`` stands for, spelled as in a study file; None: it has no range of its own.
        later: it came after the first results: a run with its default is the run that it was before, so the default is
            left out of run keys and protocols, and earlier results stay valid.
        decides_task: see `setsweep.data.declaration.DataSetting`.
    """

    rule: Rule
    default: Any = None
    about: str = ""
    unit: str = ""
    search: Mapping[str, Any] | None = None
    later: bool = False
    decides_task: bool = False

    def check(self, value: Any) -> Any:
        """The value in its own type. Raises ValueError: the rule it breaks, without a subject."""
        return self.rule.check(value)


def declared(rule: Rule, default: Any, about: str, *, unit: str = "", later: bool = False) -> Any:
    """A field of a dataclass, with its row beside it."""
    setting = Setting(rule, default, about, unit, later=later)
    return dataclasses.field(default=default, metadata={SETTING: setting})


def settings_of(kind: type) -> dict[str, Setting]:
    """The settings that the fields of a dataclass declare, those of its sections by dotted path.

    Args:
        kind: a dataclass; a field without a row is a section, whose default is a dataclass of settings.
    """
    found: dict[str, Setting] = {}
    for each in dataclasses.fields(kind):
        if SETTING in each.metadata:
            found[each.name] = of_row(each.metadata[SETTING])
        elif isinstance(each.default_factory, type):
            inner = settings_of(each.default_factory)
            found |= {f"{each.name}.{name}": setting for name, setting in inner.items()}
    return found


def of_row(row: Setting | Hyperparameter | DataSetting) -> Setting:
    """The setting that a row of a loss or a data set declares."""
    if isinstance(row, Setting):
        return row
    if isinstance(row, Hyperparameter):
        return Setting(_rule(row), row.default, row.about, row.unit, row.search, row.later)
    return Setting(_rule(row), row.default, row.about, row.unit, later=row.later, decides_task=row.decides_task)


def _rule(row: Hyperparameter | DataSetting) -> Rule:
    if isinstance(row, Hyperparameter):
        return flag() if isinstance(row.default, bool) else number(row.number)
    if row.choices:
        return one_of(*row.choices)
    if isinstance(row.default, bool):
        return flag()
    if isinstance(row.default, str):
        return text()
    if row.default is None or isinstance(row.default, int | float):
        whole = not isinstance(row.default, float)
        legal = Number(whole=whole, low=row.low, above=row.above, high=row.high, below=row.below)
        return number(legal, besides=(None,) if row.default is None else row.besides)
    return anything()
