"""Every field of a study file, with the row that declares it: what `setsweep fields` prints and the docs hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from setsweep.losses import LOSSES
from setsweep.losses.values import nearest
from setsweep.sweeps.study.budget import BUDGET
from setsweep.sweeps.study.comparing import compare_settings
from setsweep.sweeps.study.design.axes import VALUES
from setsweep.sweeps.study.design.sensitivity import SENSITIVITY
from setsweep.sweeps.study.protocol import (
    KEEP,
    PRUNER,
    RACE,
    RESOURCES,
    confirm_settings,
    search_settings,
)
from setsweep.sweeps.study.published import published_settings
from setsweep.sweeps.study.reader import ABOUT, DATA_FILES, NAME, OWN_METRICS
from setsweep.sweeps.study.scale import LEAVES_OUT, REPRODUCES, SCALE
from setsweep.sweeps.study.training import KEEP_LR, KEEP_LR_PER_EXAMPLE
from setsweep.trainables.config.coverage import COVERAGE
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import TABLES, declared_settings, k_rule
from setsweep.trainables.conformal.how import CONFORMAL
from setsweep.trainables.settings.setting import Setting

SIZES = Setting(k_rule(None), None, "size of the sets that are reported, or an ascending list of them")


@dataclass(frozen=True)
class Group:
    """Fields that stand together.

    Args:
        section: of the study file; empty for its first lines.
        name: of the row whose settings they are; empty where the section names none.
        about: what the section or the row is.
        fields: by dotted path in the study file.
    """

    section: str
    name: str
    about: str
    fields: Mapping[str, Setting]

    @property
    def heading(self) -> str:
        """``data: {name: digits}``."""
        if not self.name:
            return self.section or "study"
        return f"arms: {self.name}" if self.section == "arms" else f"{self.section}: {{name: {self.name}}}"


def study_groups() -> list[Group]:
    """All fields, in the order of a study file."""
    training = {**TRAINING, KEEP_LR: KEEP_LR_PER_EXAMPLE}
    return [
        Group(
            "",
            "",
            "what is asked",
            {"study": NAME, "about": ABOUT, "k": SIZES, "coverage": COVERAGE, "metrics": OWN_METRICS},
        ),
        Group("data", "", "of every data set", _below("data", DATA_FILES)),
        *_rows("data"),
        *_rows("model"),
        Group("training", "", "how every run trains", _below("training", training)),
        *(
            Group("arms", name, loss.about, _below(f"arms.{name}", _hyperparameters(name)))
            for name, loss in LOSSES.items()
        ),
        Group("search", "", "how hyperparameters are chosen, on validation", _search()),
        Group("confirm", "", "how the chosen ones are reported, on test", _below("confirm", confirm_settings())),
        Group(
            "sensitivity",
            "",
            "how results depend on hyperparameters, each varied",
            _below("sensitivity", {**SENSITIVITY, "ARM.HYPERPARAMETER": VALUES}),
        ),
        Group("conformal", "", "how conformal sets are made, with coverage", _below("conformal", CONFORMAL)),
        Group("compare", "", "which differences are tested", _below("compare", compare_settings(None, ()))),
        Group("keep", "", "what is kept of runs beside their results", _below("keep", KEEP)),
        Group("resources", "", "what a run occupies", _below("resources", RESOURCES)),
        Group(
            "published",
            "",
            "numbers of papers to hold the study's against, a list",
            _below("published", published_settings(())),
        ),
        Group("budget", "", "what the study may take at most", _below("budget", BUDGET)),
        Group(
            "small",
            "",
            "fields that stand in the place of the study's own, whole, at scale small",
            {"scale": SCALE, "reproduces": REPRODUCES, "small.leaves_out": LEAVES_OUT},
        ),
    ]


def fields_at(path: str) -> list[Group]:
    """The groups, or what is in them, at a path: a section, a row's name, or some parts of a field's path in a row.

    Raises:
        ValueError: nothing is there; without a subject.
    """
    groups = study_groups()
    found = [
        group for group in groups if path in (group.section, group.name) or path == f"{group.section}.{group.name}"
    ]
    found = found or [replace(group, fields=fields) for group in groups if (fields := _with_parts(group, path))]
    if not found:
        names = {part for group in groups for part in (group.section, group.name) if part}
        names |= {part for group in groups for field in group.fields for part in (field, field.rpartition(".")[2])}
        raise ValueError(f"unknown field {path!r}.{nearest(path, sorted(names))} Without a path, all are listed.")
    return found


def _search() -> dict[str, Setting]:
    """The fields of the search, and of what stops trials in it."""
    return _below("search", search_settings(())) | _below("search.race", RACE) | _below("search.pruner", PRUNER)


def _rows(section: str) -> Iterator[Group]:
    for name, row in TABLES[section].items():
        yield Group(section, name, row.about, _below(section, declared_settings(section, {"name": name})))


def _hyperparameters(loss: str) -> Mapping[str, Setting]:
    return {name: each for name, each in declared_settings("loss", {"name": loss}).items() if name != "k"}


def _below(section: str, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    return {f"{section}.{name}": setting for name, setting in settings.items()}


def _with_parts(group: Group, path: str) -> dict[str, Setting]:
    """The fields whose path has these parts, next to each other: ``lr`` and ``optimizer.lr`` are such parts."""
    return {key: each for key, each in group.fields.items() if f".{path}." in f".{key}."}
