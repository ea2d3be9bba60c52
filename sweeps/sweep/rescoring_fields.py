"""What `rescore` is asked: fields that kept scores can answer, checked, and the study as it is then reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from setsweep.losses.values import unknown
from setsweep.sweeps.study.comparing import compare_settings
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import Location, StudyError, error_line
from setsweep.sweeps.study.text.source import read_yaml
from setsweep.trainables.config.complete import check_k
from setsweep.trainables.config.coverage import COVERAGE
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import num_classes
from setsweep.trainables.config.training import check_value
from setsweep.trainables.conformal.how import CONFORMAL, Conformal
from setsweep.trainables.conformal.sets import ConformalSets, all_sets
from setsweep.trainables.evaluation.kept.rescore import Rescoring
from setsweep.trainables.evaluation.metric import Metric, conformal_metric
from setsweep.trainables.settings.problems import ConfigError
from setsweep.trainables.settings.rules import one_of

COMPARED = ("baseline", "confidence", "correction", "equivalent", "images", "k", "metrics", "pairs", "primary", "show")
FIELDS = (
    "k",
    "coverage",
    *(f"conformal.{name}" for name in CONFORMAL),
    "training.head",
    "training.threshold_scores",
    *(f"compare.{name}" for name in COMPARED),
)
HEADS = one_of(*TRAINING["head"].rule.schema["enum"], "best")  # the better one on validation, which only scores tell


def asked_of(study: Study, overrides: Sequence[str], thresholds: Literal["val", "test"]) -> tuple[Study, Rescoring]:
    """The study to report, and how its runs are measured; see `rescored_study`."""
    values: dict[str, Any] = {}
    wrong: list[str] = []
    for assignment in overrides:
        field, equals, text = (part.strip() for part in assignment.partition("="))
        where = Location(0, f"--set {assignment}")
        if not equals or field not in FIELDS:
            rule = f"{unknown('field to measure anew with', field, FIELDS)} Others need another training."
            wrong.append(error_line(where, tuple(field.split(".")), rule))
            continue
        try:
            values[field] = _checked(study, field, read_yaml(text, where.origin, lines=False)[0], values)
        except ConfigError as error:
            wrong += [error_line(where, (field,), problem.rule) for problem in error.problems]
        except ValueError as error:
            wrong.append(error_line(where, (field,), str(error)))
    if not values.get("coverage", study.coverage):
        unheard = [field for field in values if field.startswith("conformal.")]
        wrong += [error_line(Location(0, "--set"), (field,), "must be left out without coverage.") for field in unheard]
    if wrong:
        raise StudyError(wrong)
    coverage, conformal = _conformal(study, values)
    how = Rescoring(
        k=values.get("k"),
        coverage=coverage,
        conformal=conformal,
        head=values.get("training.head"),
        scores=values.get("training.threshold_scores"),
        thresholds=thresholds,
    )
    return _with(study, values, thresholds), how


def _conformal(study: Study, values: Mapping[str, Any]) -> tuple[tuple[float, ...], Conformal]:
    """The coverages asked for, and how conformal sets are made."""
    given = {name: values[f"conformal.{name}"] for name in CONFORMAL if f"conformal.{name}" in values}
    return values.get("coverage", study.coverage), replace(study.conformal, **given)


def _checked(study: Study, field: str, value: Any, others: Mapping[str, Any]) -> Any:
    if field == "k":
        return check_k(value, num_classes(study.data))
    if field == "coverage":
        return COVERAGE.check(value)
    if field == "training.head":
        return HEADS.check(value)
    section, _, name = field.partition(".")
    if section == "training":
        return check_value(name, value)
    if section == "conformal":
        return CONFORMAL[name].check(value)
    coverage, conformal = _conformal(study, others)
    sets = all_sets(coverage, conformal.scores, conformal.calibrations)
    return compare_settings(list(study.arms), others.get("k") or study.k, sets)[name].check(value)


def _with(study: Study, values: Mapping[str, Any], thresholds: str) -> Study:
    """The study as asked; what it compares by is of its own set sizes and sets, unless others are asked for."""
    given = {name: values[f"compare.{name}"] for name in COMPARED if f"compare.{name}" in values}
    compare = study.compare
    if "k" in values:
        usual = compare_settings(list(study.arms), values["k"])["metrics"].default
        compare = replace(compare, metrics=usual, show=(), primary=None, k="all")
        study = replace(study, k=values["k"])
    coverage, conformal = _conformal(study, values)
    asked = replace(study, coverage=coverage, conformal=conformal)
    if asked.conformal_sets != study.conformal_sets:
        compare = _of_sets(compare, asked.conformal_sets)
    return replace(asked, compare=replace(compare, **given), notes=(*study.notes, _note(values, thresholds)))


def _of_sets(compare: Compare, sets: Sequence[ConformalSets]) -> Compare:
    """The comparisons without metrics of other conformal sets, with coverage and size of these shown."""

    def known(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if Metric.parse(name).conformal in (None, *sets))

    shown = [conformal_metric(each, name, split="test").name for each in sets for name in ("coverage", "set_size")]
    metrics, show = known(compare.metrics), known(compare.show)
    return replace(compare, metrics=metrics, show=(*show, *(name for name in shown if name not in (*metrics, *show))))


def _note(values: Mapping[str, Any], thresholds: str) -> str:
    asked = [f"{field} = {_spelled(value)}" for field, value in values.items()]
    best = "; an accuracy that the runs did not measure is read at the best of the kept epochs" if "k" in values else ""
    where = "" if thresholds == "val" else "; thresholds come from the test split itself, which flatters average-k"
    return f"Measured anew from kept scores{': ' if asked else ''}{', '.join(asked)}{best}{where}."


def _spelled(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
