"""Reads a study file: checked, every default filled in, all of its errors told at once."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setsweep.sweeps.study.arms import read_arms
from setsweep.sweeps.study.budget import read_budget
from setsweep.sweeps.study.comparing import check_compare, read_compare
from setsweep.sweeps.study.design.grid import check_grid_alone, read_grid
from setsweep.sweeps.study.design.points import check_points
from setsweep.sweeps.study.design.sensitivity import read_sensitivity
from setsweep.sweeps.study.named_sections import read_named_section
from setsweep.sweeps.study.protocol import (
    check_device,
    check_search,
    read_confirm,
    read_keep,
    read_resources,
    read_search,
)
from setsweep.sweeps.study.published import read_published
from setsweep.sweeps.study.rules import name_rule
from setsweep.sweeps.study.scale import LEAVES_OUT, REPRODUCES, is_about_scale, leave_out_published, scaled, small_form
from setsweep.sweeps.study.study import Search, Study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.sweeps.study.text.source import Source, open_bundled, open_study, plain_source, read_source
from setsweep.sweeps.study.training import TrainingBlock, fill_in_preset, fit_milestones, read_training
from setsweep.trainables.config.complete import METRICS, check_k
from setsweep.trainables.config.coverage import COVERAGE
from setsweep.trainables.config.sections import num_classes
from setsweep.trainables.config.training import default_training, nest
from setsweep.trainables.conformal.how import CONFORMAL, Conformal
from setsweep.trainables.conformal.sets import all_sets
from setsweep.trainables.evaluation.metric import Metric
from setsweep.trainables.settings.problems import ConfigError
from setsweep.trainables.settings.rules import flag, text
from setsweep.trainables.settings.setting import Setting

REQUIRED = ("study", "data", "model", "k", "arms")
NAME = Setting(name_rule("a name"), "", "of the study: its folder and its records have it")
ABOUT = Setting(text(), "", "what is asked, one sentence")
ROOT = Setting(text(), None, "where the data files lie; default: SETSWEEP_DATA, else ~/.cache/setsweep")
DOWNLOAD = Setting(flag(), False, "whether data files that are missing are fetched")
OWN_METRICS = Setting(METRICS, (), "of your own, each package.module:function of scores and labels; more is better")
DATA_FILES = {"root": ROOT, "download": DOWNLOAD}  # what `data` may hold besides what decides a result

FIELDS = (
    *REQUIRED,
    "about",
    "coverage",
    "conformal",
    "training",
    "metrics",
    "grid",
    "search",
    "confirm",
    "sensitivity",
    "compare",
    "keep",
    "resources",
    "published",
    "budget",
    "reproduces",
    "leaves_out",
    "scale",
    "small",
)


def read_study(study: str | Path | Mapping[str, Any], overrides: Sequence[str] = ()) -> Study:
    """The study of a file, the bundled study of that name, or the study with these contents.

    Args:
        study: a path; or the name of a bundled study, where no file is called so; or what a file would hold, as plain
            data.
        overrides: values put over the file's, as in ``training.epochs=3``; the right side is YAML.

    Raises:
        StudyError: every rule that is broken, with file (or override), line and field.
    """
    if isinstance(study, Mapping):
        shown, source = "study", plain_source(study, "study")
    else:
        content, shown = open_study(study)
        source = read_source(content, shown)
    return _read_forms(source, shown, overrides)


def read_bundled(name: str, overrides: Sequence[str] = ()) -> Study:
    """The bundled study of that name, whatever lies in the current folder."""
    content, shown = open_bundled(name)
    return _read_forms(read_source(content, shown), shown, overrides)


def _read_forms(source: Source, shown: str, overrides: Sequence[str]) -> Study:
    """The study, or its small form where that is asked for; what is wrong with the other is told as well."""
    of_scale, others = ([each for each in overrides if is_about_scale(each) is first] for first in (True, False))
    for assignment in of_scale:
        source.override(assignment)
    other_form = copy.deepcopy(source)
    source = scaled(source)
    for assignment in others:
        source.override(assignment)
    if others:
        leave_out_published(source)
    errors: list[str] = []
    study: Study | None = None
    try:
        _check_other_form(other_form, shown)
    except StudyError as error:
        errors += error.errors
    try:
        study = _read_source(source, shown)
    except StudyError as error:
        errors += error.errors
    if errors or study is None:
        raise StudyError(errors)
    return study


def _check_other_form(source: Source, path: str) -> None:
    """Raises StudyError where the small form of a study that is not run at small scale isn't legal."""
    if source.values.get("small") and source.values.get("scale") != "small":
        _read_source(small_form(source), path)


def _read_source(source: Source, path: str) -> Study:
    notes = (fill_in_preset(source), fit_milestones(source))
    return _read(Findings(source), path=path, notes=tuple(note for note in notes if note))


def _read(findings: Findings, *, path: str, notes: tuple[str, ...]) -> Study:
    source = findings.source
    top = Section(findings, (), FIELDS)
    for field in REQUIRED:
        if field not in top.values:
            findings.add((field,), "must be given, got nothing.")
    name, about = top.read("study", NAME), top.read("about", ABOUT)
    leaves_out = top.read("leaves_out", LEAVES_OUT)
    metrics = top.read("metrics", OWN_METRICS) or ()
    root, download = _read_data_files(findings)
    named = read_named_section(findings, "data", besides=DATA_FILES), read_named_section(findings, "model")
    data, model = (section.values for section in named)
    k = _read_k(findings, num_classes(data) if data else None)
    coverage, conformal = _read_conformal(findings)
    sets = all_sets(coverage, conformal.scores, conformal.calibrations)
    training = read_training(findings)
    searched = {**named[0].searched, **named[1].searched, **training.shared_spaces()}
    search = read_search(findings, k)
    arms = read_arms(findings, training, searched, k=_k_of_losses(search, k))
    grid = read_grid(findings, data, model, arms) if data and model else {}
    check_grid_alone(findings, grid, arms)
    check_search(findings, search, arms, searched)
    resources = read_resources(findings)
    check_device(findings, training, arms, grid, resources)
    confirm_seeds, confirm = read_confirm(findings, search, arms)
    sections = {section: values for section, values in (("data", data), ("model", model)) if values}
    sensitivity = read_sensitivity(findings, arms, sections, grid, search)
    study = Study(
        name=name,
        about=about,
        data=data,
        model=model,
        training=_complete(training),
        k=k,
        coverage=coverage,
        conformal=conformal,
        arms=arms,
        grid=grid,
        search=search,
        confirm_seeds=confirm_seeds,
        confirm=confirm,
        sensitivity=sensitivity,
        compare=read_compare(findings, list(source.values["arms"]) if arms else None, k, sets, metrics),
        keep=read_keep(findings),
        resources=resources,
        published=read_published(findings, list(source.values["arms"]) if arms else None, grid, k),
        reproduces=top.read("reproduces", REPRODUCES),
        leaves_out=leaves_out,
        has_small_form=bool(source.values.get("small")),
        budget=read_budget(findings, gpus=resources.gpus),
        data_root=root,
        download=download,
        metrics=metrics,
        given=source.values,
        path=path,
        notes=(*notes, *_left_out(leaves_out), *_notes(search), *_unusual(training, confirm_seeds)),
    )
    if not findings.within("k", "arms", "confirm", "compare"):
        check_compare(findings, study)
    if not findings.within("data", "model", "k", "training", "grid", "sensitivity"):
        check_points(findings, study)
    findings.raise_any()
    return study


def _left_out(leaves_out: str) -> tuple[str, ...]:
    """What a form of a paper's experiment is not."""
    return (f"Of the paper's experiment this leaves out: {leaves_out.rstrip('.')}.",) if leaves_out else ()


def _notes(search: Search | None) -> tuple[str, ...]:
    """What a study gives up by what it asks for."""
    if search is None or not search.asynchronous:
        return ()
    given_up = (
        "search.asynchronous: suggestions depend on which runs finished first, so another sweep of this study may try "
        "other configurations and give another table; what this one has tried is kept."
    )
    return (given_up,)


def _unusual(training: TrainingBlock, confirm_seeds: tuple[int, ...]) -> list[str]:
    """What is legal, and seldom meant."""
    fixed, found = default_training() | training.fixed, []
    if fixed["evaluate_every"] > fixed["epochs"]:
        rule = f"{fixed['evaluate_every']} is beyond training.epochs = {fixed['epochs']}"
        found.append(f"training.evaluate_every: {rule}: runs are evaluated once, at their end.")
    if len(confirm_seeds) == 1:
        found.append("confirm.seeds: one seed gives no interval and no test; 2 give intervals, 3 tests, 5 are usual.")
    return found


def _k_of_losses(search: Search | None, k: tuple[int, ...]) -> int:
    """The set size of losses whose arm gives none: that of what is searched for, else the first that is reported."""
    return (search and Metric.parse(search.objective).k) or k[0] if k else 1


def _read_data_files(findings: Findings) -> tuple[str | None, bool]:
    """Where the data lies; not part of what decides a result."""
    given = Section(findings, ("data",)).read_all(DATA_FILES)
    return given["root"], given["download"]


def _read_k(findings: Findings, classes: int | None) -> tuple[int, ...]:
    """The set sizes; none where they are broken: what depends on them is then checked as in any study."""
    value = findings.source.values.get("k")
    try:
        return check_k(value, classes)
    except ConfigError as error:
        for problem in error.problems if "k" in findings.source.values else ():
            findings.add(("k",), problem.rule)
    return ()


def _read_conformal(findings: Findings) -> tuple[tuple[float, ...], Conformal]:
    """The coverages of conformal sets, and how these are made; none where the study has none."""
    coverage = Section(findings, (), None).read("coverage", COVERAGE)
    section = Section(findings, ("conformal",), CONFORMAL)
    if section.values and "coverage" not in findings.source.values:
        findings.add(("conformal",), f"must be left out without coverage, got {', '.join(section.values)}.")
    return coverage, Conformal(**section.read_all(CONFORMAL))


def _complete(training: TrainingBlock) -> dict[str, Any]:
    """The values that are fixed, given or by default, as nested plain data."""
    flat = default_training() | training.fixed
    plain = {path: list(value) if isinstance(value, tuple) else value for path, value in flat.items()}
    return nest({path: value for path, value in plain.items() if path not in training.searched})
