"""What listings share: tables, and the settings of a row as lines."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from setsweep.trainables.config.sections import declared_settings
from setsweep.trainables.settings.setting import Setting


def settings(section: str, name: str) -> str:
    """A line for each setting of a row: default, rule, and range worth searching."""
    return "\n".join(
        _setting(key, setting)
        for key, setting in declared_settings(section, {"name": name}).items()
        if (section, key) != ("loss", "k")
    )


def _setting(name: str, setting: Setting) -> str:
    default = "none" if setting.default is None else setting.default
    unit = f" {setting.unit}" if setting.unit else ""
    search = "".join(f", {kind} {list(values)}" for kind, values in (setting.search or {}).items())
    return f"{name} = {default}{unit} ({setting.rule.words}){search}"


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
