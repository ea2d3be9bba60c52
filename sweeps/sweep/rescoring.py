"""A study measured anew from the scores that its runs have kept; nothing is trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.remote.working_copy import bring
from setsweep.sweeps.records.study_folder import score_folder, stored_state, stored_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.loop import UNCONFIRMED
from setsweep.sweeps.sweep.preflight import check_functions
from setsweep.sweeps.sweep.rescoring_fields import asked_of
from setsweep.sweeps.sweep.result import StudyResult, frame, run_columns
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.kept.rescore import Rescoring, rescored
from setsweep.trainables.evaluation.kept.score_store import KeptScores, read_scores
from setsweep.trainables.evaluation.kept.score_views import ScoreView, view
from setsweep.trainables.evaluation.metric import SET_RULES, Metric, SetRule, accuracies, criterion_of_conformal

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_K = 50  # of a curve against k, where nothing else is asked for


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

    @property
    def kinds_of_sets(self) -> list[str]:
        """The sets that are asked for, as `set_sizes` names them."""
        by_rule = [f"{rule}{k}" for k in self.study.k for rule in SET_RULES]
        return [*by_rule, *(each.name for each in self.study.conformal_sets)]

    def set_sizes(self, sets: str) -> DataFrame:
        """A row for each run, group of classes ("all", "few", "medium", "many") and size that its sets have.

        Its `count` is that of the test examples with a set of that `size`.

        Args:
            sets: "avg5", "top5" (all of one size), or conformal ones by their name ("lac90"), which are read at the
                best epoch of average-k accuracy at the largest k.

        Raises:
            ValueError: others than are asked for.
        """
        if sets not in self.kinds_of_sets:
            raise ValueError(f"sets must be one of {', '.join(self.kinds_of_sets)}, got {sets!r}.")
        by_rule = Metric.parse(f"{sets}_set_size").rule
        at = f"{sets}_accuracy" if by_rule else criterion_of_conformal(each.name for each in accuracies(self.study.k))
        return frame(
            {**run_columns(run), "group": group or "all", "size": size, "count": count}
            for run, found in self._views(at)
            for group, counts in found.size_histograms(sets).items()
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
        overrides: values put over those that it was run with, as in ``k=[1, 5]``; for the fields see
            `setsweep.sweeps.sweep.rescoring_fields`. `training.head` may also be best: for each accuracy the head that
            is better on validation.
        thresholds: the split that the thresholds of average-k sets come from.

    Raises:
        ValueError: a field that nothing but another training can change, a value that breaks its rule, or scores that
            were not kept; a metric of the user's that may not be called.
    """
    planner, _ = stored_state(*(found := stored_study(study, storage)), results_of=storage)
    asked, how = asked_of(planner.study, overrides, thresholds)
    if asked.metrics:
        check_functions(asked)
    return RescoredResult(asked, found[1], list(kept_runs(planner, found[1])), how)


def kept_runs(planner: Planner, folder: Path) -> Iterator[tuple[PlannedRun, Any, KeptScores | None]]:
    """The runs whose scores are kept, with them; and those without a number, as they are.

    Raises:
        ValueError: a run that is confirmed has given a number, but its scores were not kept.
    """
    bring(folder, "scores")
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


def _done(result: RunResult | None) -> bool:
    return result is not None and result.status == "done"
