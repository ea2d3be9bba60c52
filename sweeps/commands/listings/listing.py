"""What listings share: entries, and the settings of a row as lines and as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.trainables.config.sections import declared_settings
from setsweep.trainables.settings.setting import Setting

SETTINGS = ("settings", "hyperparameters")
NOTHING = "-"  # what a declaration has in the place of a paper
INDENT, FURTHER = "    ", "  "  # of an entry's lines; of those that go on
WIDEST = 120  # columns that are read with ease


def show_rows(section: str, rows: Mapping[str, Any], told: Sequence[str], *, as_json: bool) -> int:
    """Print what a section of a study may name: declarations.

    Args:
        section: "data", "model" or "loss".
        rows: the declarations by name.
        told: what is told of each beside its name: "settings" or "hyperparameters", and attributes of the declarations.
        as_json: print JSON in place of a text.
    """
    if as_json:
        print(json_text([{"name": name, **_plain(section, name, row, told)} for name, row in rows.items()]), end="")
    else:
        print("\n\n".join(entry(name, _paragraphs(section, name, row, told)) for name, row in rows.items()))
    return DONE


def _plain(section: str, name: str, row: Any, told: Sequence[str]) -> dict[str, Any]:
    return {key: plain_settings(section, name) if key in SETTINGS else getattr(row, key) for key in told}


def _paragraphs(section: str, name: str, row: Any, told: Sequence[str]) -> Iterator[str]:
    for key in told:
        if key in SETTINGS:
            yield from settings(section, name)
        elif (text := getattr(row, key)) != NOTHING:
            yield text


def settings(section: str, name: str) -> list[str]:
    """A line for each setting of a row: default, rule, and range worth searching."""
    return [
        setting_line(key, setting)
        for key, setting in declared_settings(section, {"name": name}).items()
        if (section, key) != ("loss", "k")
    ]


def setting_line(name: str, setting: Setting) -> str:
    """``alpha = 1.0 (a number > 0), log_uniform [0.1, 10.0]``."""
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


def entry(title: str, paragraphs: Iterable[str]) -> str:
    """A title, and below it paragraphs as wide as the terminal; no word is broken, however narrow that is."""
    further = [line for text in paragraphs for line in wrapped(text, INDENT)]
    return "\n".join([*wrapped(title), *further])


def wrapped(text: str, indent: str = "") -> list[str]:
    """The lines of a text that fit the terminal; where it has to go on, further in."""
    width = min(get_terminal_size().columns, WIDEST)
    return wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}{FURTHER}",
        break_long_words=False,
        break_on_hyphens=False,
    )
