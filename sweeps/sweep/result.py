"""What a study has given, for Python: data frames, reports, figures and trained models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsweep.sweeps.planning.candidate import OfCandidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.lease import FILE
from setsweep.sweeps.records.remote.working_copy import bring
from setsweep.sweeps.records.study_folder import model_folder, stored_state, stored_study
from setsweep.sweeps.reports.formats import render
from setsweep.sweeps.reports.report import build_report, with_examples
from setsweep.sweeps.statistics.aggregates import STATISTICS
from setsweep.sweeps.statistics.searched import Searched
from setsweep.sweeps.study.study import Point, Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import with_values_at

if TYPE_CHECKING:
    from pandas import DataFrame

    from setsweep.trainables.evaluation.predictor import SetPredictor


class StudyResult:
    """What the runs of a study say so far.

    Tables are pandas data frames, in which a grid value stands in the column ``point.PATH`` and a hyperparameter in
    ``params.NAME``; accuracies are shares, 0.93 and not 93 %.

    Args:
        study: as it is asked for.
        folder: of the study.
        runs: decided so far, with their results; None: those that the folder holds.
    """

    def __init__(
        self, study: Study, folder: Path, runs: Sequence[tuple[PlannedRun, RunResult | None]] | None = None
    ) -> None:
        planner, looks = stored_state(study, folder)
        self.study, self.folder = (planner.study if runs is None else study), folder
        asked = self.study.at_epochs
        found = planner.runs() if runs is None else runs
        self._runs = [(run, result and with_values_at(result, asked)) for run, result in found]
        report = build_report(self.study, self._runs, looks, total=planner.total if runs is None else None)
        self._report = with_examples(report, folder) if runs is None else report

    @property
    def complete(self) -> bool:
        """Whether no run is waiting and every arm is confirmed at every point."""
        return self._report.complete

    @cached_property
    def aggregates(self) -> DataFrame:
        """A row for each metric of each configuration: its mean over seeds, the interval, `std`, `n`, how many seeds
        are `planned` and how many `failed`, and `values` by seed.
        """
        return frame(
            {
                **_candidate(each),
                **{name: getattr(each, name) for name in ("metric", *STATISTICS)},
                "planned": len(each.seeds),
                "failed": len(each.failed),
                "values": dict(each.values),
            }
            for each in self._report.aggregates
        )

    @cached_property
    def comparisons(self) -> DataFrame:
        """A row for each difference between two arms, paired by seed: its interval, `p`, `p_corrected`, `role` and `n`.

        Those by the primary metric have more, see `sweeps.statistics.details.Details`.
        """
        return frame({**_candidate(each), **each.numbers} for each in self._report.comparisons)

    @cached_property
    def over_images(self) -> DataFrame:
        """A row for each difference by the primary metric and seed, where the study has `compare.images`: how many test
        images the arm alone (`better`) and the baseline alone (`worse`) has right, and McNemar's `p`.
        """
        return frame(
            {**_candidate(each), "baseline": each.baseline, "metric": each.metric, "seed": seed, **vars(test)}
            for each in self._report.over_images
            for seed, test in each.by_seed.items()
        )

    @cached_property
    def choices(self) -> DataFrame:
        """A row for each arm that is searched and each point: what is chosen, on which `mean`, the most that it may be
        `below_best` of the trials, `optimism` of the search and what that has brought (`over_default`) with intervals,
        how many `runs` it takes. What is still open is missing.
        """
        return frame(map(_choice, self._report.searches))

    @cached_property
    def runs(self) -> DataFrame:
        """A row for each run decided so far: seed, status ("waiting" where it has no result), and its final metrics."""
        return frame(_run_row(run, result) for run, result in self._runs)

    @property
    def failed(self) -> DataFrame:
        """The rows of `runs` that diverged or failed."""
        runs = self.runs
        return runs[runs["status"].isin(["diverged", "failed"])]

    def report(self, form: str = "markdown") -> str:
        """The tables as text: "terminal", "markdown", "json", "csv", "latex" or "html". Raises ValueError: another."""
        return render(self._report, form)

    def sensitivity(self, form: str = "markdown", metric: str | None = None) -> str:
        """How much the hyperparameters matter: "terminal", "markdown", "json", "csv" or "html".

        Args:
            form: the format.
            metric: an accuracy on validation or test; None: the study's primary one.

        Raises:
            ValueError: another format or metric, or a study that varies nothing.
        """
        from setsweep.sweeps.reports.sensitivity.render import render_sensitivity
        from setsweep.sweeps.reports.sensitivity.sensitivity import build_sensitivity

        return render_sensitivity(build_sensitivity(self._report, metric), form)

    @cached_property
    def figures(self) -> Sequence[Path]:
        """The figures as PNG files, drawn into ``report`` in the study's folder."""
        from setsweep.sweeps.reports.figures import write_figures  # imported late: matplotlib takes a second

        return write_figures(self._report, self.folder / "report")

    def best_model(self, arm: str, point: Point | None = None) -> SetPredictor:
        """The model kept of an arm's chosen configuration; ``predict(images, params={"k": 5})`` gives sets.

        Args:
            arm: its name.
            point: at which point of the grid, path to value; may be left out where there is one point.

        Raises:
            ValueError: no such arm or point, or its model is not there (yet).
        """
        from setsweep.trainables.evaluation.predictor import SetPredictor

        kept = [run for run, _ in self._runs if run.stage == "confirm" and run.arm == arm]
        kept = [run for run in kept if run.seed == self.study.confirm_seeds[0]]
        if arm not in self.study.arms:
            raise ValueError(f"arm must be one of {', '.join(self.study.arms)}, got {arm!r}.")
        points = self.study.points()
        if point is None and len(points) > 1:
            raise ValueError(f"point must be given, one of {points}, got none.")
        wanted = points[0] if point is None else dict(point)
        if wanted not in points:
            raise ValueError(f"point must be one of {points}, got {wanted}.")
        bring(self.folder, "models")
        for run in kept:
            if run.point == wanted and (folder := model_folder(self.folder, run) / "model.pt").exists():
                return SetPredictor(folder.parent, trusted=[Path(self.study.path).parent])
        raise ValueError(f"model of {arm} must have been trained, got none in {self.folder / 'models'} yet.")


def stored_result(study: str, storage: str) -> StudyResult:
    """What a study has given that was run before.

    Args:
        study: a path, or a name.
        storage: see `sweeps.records.study_folder.storage_folder`.

    Raises:
        ValueError: there is no such study, or nothing of it.
    """
    read, folder = stored_study(study, storage)
    if not (folder / FILE).exists():
        raise ValueError(
            f"study {read.name!r} must have been run in {str(storage)!r}, got no journal in {str(folder)!r}."
        )
    return StudyResult(read, folder)


def _choice(each: Searched) -> dict[str, Any]:
    chosen = None if each.chosen is None else each.trials[each.chosen]
    gap, change = each.optimism, each.tunability
    return {
        "arm": each.arm,
        **{f"point.{path}": value for path, value in each.point.items()},
        **{f"params.{name}": value for name, value in (chosen.params if chosen else {}).items()},
        "trial": each.chosen,
        "mean": each.mean,
        "below_best": None if each.certificate is None else each.certificate.bound,
        "optimism": gap and gap.difference,
        "optimism_low": gap and gap.ci_low,
        "optimism_high": gap and gap.ci_high,
        "over_default": change and change.mean,
        "over_default_low": change and change.ci_low,
        "over_default_high": change and change.ci_high,
        "runs": each.runs,
        "runs_of_all_seeds": each.runs_of_all_seeds,
    }


def run_columns(run: PlannedRun) -> dict[str, Any]:
    """The place of a run in its study, as columns."""
    return {**_candidate(run), "seed": run.seed, "key": run.key}


def _run_row(run: PlannedRun, result: RunResult | None) -> dict[str, Any]:
    row = {**run_columns(run), "status": result.status if result else "waiting"}
    if result is None:
        return row
    return {**row, "reason": result.reason, "seconds": result.seconds, "host": result.host, **result.metrics}


def _candidate(entry: OfCandidate) -> dict[str, Any]:
    """The configuration of an entry, as columns."""
    return {
        "arm": entry.arm,
        **{f"point.{path}": value for path, value in entry.point.items()},
        **{f"params.{name}": value for name, value in entry.params.items()},
        "stage": entry.stage,
        "trial": entry.trial,
    }


def frame(rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """A data frame of rows."""
    from pandas import DataFrame  # comes with MLflow; imported when it is asked for

    made = DataFrame(list(rows))
    if "trial" in made:
        made["trial"] = made["trial"].astype("Int64")  # whole numbers, some of them missing
    return made
