"""``setsweep studies``, ``losses`` and ``datasets``: what there is, from the declarations themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import resources

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.losses.declaration import Hyperparameter
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.source import bundled_studies


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
    rows = []
    for name, loss in LOSSES.items():
        numbers = "\n".join(_hyperparameter(key, value) for key, value in loss.hyperparameters.items()) or "-"
        rows.append((name, loss.about, numbers, loss.paper))
    return _table(("loss", "good for", "hyperparameters", "paper"), rows)


def datasets() -> str:
    """The data sets: name, what they are, settings with defaults, source."""
    rows = []
    for name, dataset in DATASETS.items():
        settings = "\n".join(
            f"{key} = {'none' if default is None else default}" for key, default in dataset.parameters.items()
        )
        rows.append((name, dataset.about, settings or "-", dataset.source))
    return _table(("data set", "what it is", "settings", "source"), rows)


LISTINGS: dict[str, Callable[[], str]] = {"studies": studies, "losses": losses, "datasets": datasets}


def _hyperparameter(name: str, declared: Hyperparameter) -> str:
    text = f"{name} = {declared.default} ({declared.rule()})"
    for kind, values in (declared.search or {}).items():
        text += f", {kind} {list(values)}"
    return text


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
