"""What listings share: tables, and the settings of a row as lines and as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.trainables.config.sections import declared_settings
from setsweep.trainables.settings.setting import Setting

SETTINGS = ("settings", "hyperparameters")


def show_rows(section: str, rows: Mapping[str, Any], columns: Mapping[str, str], *, as_json: bool) -> int:
    """Print what a section of a study may name: a table of declarations.

    Args:
        section: "data", "model" or "loss".
        rows: the declarations by name.
        columns: the headings of the table, by what JSON calls them: "name", "settings" or "hyperparameters", and
            attributes of the declarations.
        as_json: print JSON in place of a table.
    """

    def told(name: str, row: Any, key: str) -> Any:
        if key in SETTINGS:
            return plain_settings(section, name) if as_json else settings(section, name) or "-"
        return name if key == "name" else getattr(row, key)

    found = [{key: told(name, row, key) for key in columns} for name, row in rows.items()]
    if as_json:
        print(json_text(found), end="")
    else:
        print(table(columns.values(), [tuple(row.values()) for row in found]))
    return DONE


def settings(section: str, name: str) -> str:
    """A line for each setting of a row: default, rule, and range worth searching."""
    return "\n".join(
        _setting(key, setting)
        for key, setting in declared_settings(section, {"name": name}).items()
        if (section, key) != ("loss", "k")
    )


def _setting(name: str, setting: Setting) -> str:
    unit = f" {setting.unit}" if setting.unit else ""
    search = f", {found}" if (found := searched(setting)) else ""
    return f"{name} = {default(setting) or 'none'}{unit} ({setting.rule.words}){search}"


def plain_settings(section: str, name: str) -> dict[str, Any]:
    """The settings of a row as plain data: default, rule, range worth searching, unit, and what each is."""
    return {
        key: {
            "default": setting.default,
            "must_be": setting.rule.words,
            "default_space": setting.search and {kind: list(values) for kind, values in setting.search.items()},
            "unit": setting.unit or None,
            "about": setting.about,
        }
        for key, setting in declared_settings(section, {"name": name}).items()
        if (section, key) != ("loss", "k")
    }


def default(setting: Setting) -> str:
    """The default as one would write it; empty where there is none, or it follows from the rest of a study."""
    value = setting.default
    if value is None or value == "":
        return ""
    plain = json.loads(json.dumps(value))
    return plain if isinstance(plain, str) else json.dumps(plain)


def searched(setting: Setting) -> str:
    """What ``default_space`` stands for: ``log_uniform [0.1, 10]``."""
    return ", ".join(f"{kind} {list(values)}" for kind, values in (setting.search or {}).items())


def table(headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    """Rows under headings, as wide as the terminal."""
    drawn = Table(box=None, show_lines=False, padding=(0, 2, 1, 0))
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in rows:
        drawn.add_row(*(escape(cell) for cell in row))
    console = Console()
    with console.capture() as capture:
        console.print(drawn)
    return capture.get().rstrip()
