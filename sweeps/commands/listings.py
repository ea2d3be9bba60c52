"""``setsweep studies``, ``losses`` and ``datasets``: what there is, from the declarations themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import resources

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.source import bundled_studies
from setsweep.trainables.config.sections import declared_settings
from setsweep.trainables.settings.setting import Setting


def studies() -> str:
    """The bundled studies: name, number of arms, what they are about."""
    read = []
    for name in bundled_studies():
        with resources.as_file(resources.files("setsweep.sweeps") / "studies" / f"{name}.yaml") as path:
            read.append(read_study(path))
    return _table(
        ("study", "data", "arms", "about"), [(s.name, str(s.data["name"]), ", ".join(s.arms), s.about) for s in read]
    )


def losses() -> str:
    """The losses: name, what they are good for, hyperparameters with default, legal range and search range, paper."""
    rows = [(name, loss.about, _settings("loss", name) or "-", loss.paper) for name, loss in LOSSES.items()]
    return _table(("loss", "good for", "hyperparameters", "paper"), rows)


def datasets() -> str:
    """The data sets: name, what they are, settings with defaults, source."""
    rows = [(name, each.about, _settings("data", name) or "-", each.source) for name, each in DATASETS.items()]
    return _table(("data set", "what it is", "settings", "source"), rows)


LISTINGS: dict[str, Callable[[], str]] = {"studies": studies, "losses": losses, "datasets": datasets}


def _settings(section: str, name: str) -> str:
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


def _table(headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    table = Table(box=None, show_lines=False, padding=(0, 2, 1, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console = Console()
    with console.capture() as capture:
        console.print(table)
    return capture.get().rstrip()
