"""A study measured anew from the scores that its runs have kept; nothing is trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from setsweep.losses.values import unknown
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import score_folder, stored_planner, stored_study
from setsweep.sweeps.study.comparing import compare_settings
from setsweep.sweeps.study.errors import Location, StudyError, error_line
from setsweep.sweeps.study.source import read_yaml
from setsweep.sweeps.study.study import Compare, Study
from setsweep.sweeps.sweep.loop import UNCONFIRMED
from setsweep.sweeps.sweep.result import StudyResult, frame, run_columns
from setsweep.trainables.config.complete import check_k
from setsweep.trainables.config.coverage import COVERAGE
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.config.sections import num_classes
from setsweep.trainables.config.training import check_value
from setsweep.trainables.conformal.how import CONFORMAL, Conformal
from setsweep.trainables.conformal.sets import ConformalSets, all_sets
from setsweep.trainables.evaluation.metric import SET_RULES, Metric, SetRule, conformal_metric
from setsweep.trainables.evaluation.rescore import Rescoring, rescored
from setsweep.trainables.evaluation.score_store import KeptScores, read_scores
from setsweep.trainables.evaluation.score_views import ScoreView, view
from setsweep.trainables.settings.problems import ConfigError

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_K = 50  # of a curve against k, where nothing else is asked for
COMPARED = ("baseline", "confidence", "correction", "equivalent", "images", "k", "metrics", "pairs", "primary", "show")
FIELDS = (
    "k",
    "coverage",
    *(f"conformal.{name}" for name in CONFORMAL),
    "training.head",
    "training.threshold_scores",
    *(f"compare.{name}" for name in COMPARED),
)


class RescoredResult(StudyResult):
    """What a study gives by its kept scores, and what these tell beyond means.

    Args:
        study: as it is asked for.
        folder: of the study.
        kept: its runs, their results and their scores, where they have kept some.
        how: the scores are measured.
    """

    def __init__(
        self,
        study: Study,
        folder: Path,
        kept: Sequence[tuple[PlannedRun, RunResult | None, KeptScores | None]],
        how: Rescoring,
    ) -> None:
        self._kept, self._how, at = kept, how, study.at_epochs
        runs = [
            (
                run,
                result if scores is None or result is None else rescored(result, run.config, scores, how, at_epochs=at),
            )
            for run, result, scores in kept
        ]
        super().__init__(study, folder, runs)

    def set_sizes(self, k: int) -> DataFrame:
        """A row for each run, group of classes ("all", "few", "medium", "many") and size that its average-k sets have:
        the `count` of test examples with a set of that `size`.
        """
        return frame(
            {**run_columns(run), "group": group or "all", "size": size, "count": count}
            for run, found in self._views(f"avg{k}_accuracy")
            for group, counts in found.size_histograms(k).items()
            for size, count in enumerate(counts.tolist())
            if count
        )

    def accuracy_by_k(self, ks: Sequence[int] | None = None, *, at: str) -> DataFrame:
        """A row for each run and k: test accuracy of the sets of k classes (`top`) and of k on average (`avg`).

        Args:
            ks: the set sizes, each below the number of classes; None: from 1 to 50, or to as many as there are.
            at: the accuracy at whose best epoch all are read, e.g. "avg5_accuracy".
        """
        rows = []
        for run, found in self._views(at):
            sizes = ks or range(1, min(MOST_K + 1, found.test.shape[1]))
            top, avg = (found.hits(rule, sizes) for rule in SET_RULES)
            means = {k: (top[k].double().mean().item(), avg[k].double().mean().item()) for k in sizes}
            rows += [{**run_columns(run), "k": k, "top": top, "avg": avg} for k, (top, avg) in means.items()]
        return frame(rows)

    def per_class(self, rule: SetRule, k: int) -> DataFrame:
        """A row for each run and class: `train` and `test` examples, and the `accuracy` of its sets.

        They are read at the best epoch of the accuracy over all examples.

        Args:
            rule: "top" or "avg".
            k: size of the sets.
        """
        rows = []
        for run, found in self._views(f"{rule}{k}_accuracy"):
            examples, accuracy = found.per_class(rule, k)
            columns = zip(found.train_class_counts.tolist(), examples.tolist(), accuracy.tolist(), strict=True)
            rows += [
                {**run_columns(run), "class": label, "train": train, "test": test, "accuracy": value}
                for label, (train, test, value) in enumerate(columns)
            ]
        return frame(rows)

    def _views(self, at: str) -> Iterator[tuple[PlannedRun, ScoreView]]:
        for run, _, kept in self._kept:
            if kept is not None and run.config.test:
                yield run, view(run.config, kept, self._how, at)


def rescored_study(
    study: str, storage: str, overrides: Sequence[str] = (), thresholds: Literal["val", "test"] = "val"
) -> RescoredResult:
    """What a study gives by the scores that it has kept.

    Args:
        study: its file, or its name.
        storage: where its results are kept.
        overrides: values put over those that it was run with, as in ``k=[1, 5]``; see `FIELDS`. `training.head` may
            also be best: for each accuracy the head that is better on validation.
        thresholds: the split that the thresholds of average-k sets come from.

    Raises:
        ValueError: a field that nothing but another training can change, a value that breaks its rule, or scores that
            were not kept.
    """
    planner = stored_planner(*(found := stored_study(study, storage)))
    asked, how = asked_of(planner.study, overrides, thresholds)
    return RescoredResult(asked, found[1], list(kept_runs(planner, found[1])), how)


def kept_runs(planner: Planner, folder: Path) -> Iterator[tuple[PlannedRun, Any, KeptScores | None]]:
    """The runs whose scores are kept, with them; and those without a number, as they are.

    Raises:
        ValueError: a run that is confirmed has given a number, but its scores were not kept.
    """
    found = [(run, result, read_scores(score_folder(folder, run))) for run, result in planner.runs()]
    lacking = [run for run, result, kept in found if kept is None and _done(result) and run.stage not in UNCONFIRMED]
    if lacking:
        kept_now = planner.study.keep
        raise ValueError(
            f"scores of the runs of {planner.study.name} must be kept to measure them anew, got none of {len(lacking)} "
            f"runs: keep.scores was {kept_now.scores}, keep.limit {kept_now.limit:g} GiB. Run the study again with "
            "--set keep.scores=confirm into another --storage."
        )
    for run, result, kept in found:
        if kept is not None or not _done(result):
            yield run, result, kept


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
    if field == "training.head" and value == "best":
        return value
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


def _done(result: RunResult | None) -> bool:
    return result is not None and result.status == "done"
