"""Which metrics the tables and figures show, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.study.study import Study
from setsweep.trainables.evaluation.metric import Metric, conformal_metric, plain_accuracies, set_size, users_metric


def main_metrics(study: Study) -> list[str]:
    """The test metrics of the main table: for each k top-k and average-k accuracy and the mean size of the sets; of
    conformal sets coverage and mean size; after them those of the user's.
    """
    of_k = [metric for k in study.k for metric in (*plain_accuracies([k]), set_size(k))]
    conformal = [conformal_metric(sets, each) for sets in study.conformal_sets for each in ("coverage", "set_size")]
    return [metric.on("test").name for metric in (*of_k, *conformal, *map(users_metric, study.metrics))]


def in_order(study: Study, metrics: Iterable[str]) -> list[str]:
    """The metrics in the order of the main table, those that it lacks after them."""
    main = main_metrics(study)
    return sorted(metrics, key=lambda m: (main.index(m) if m in main else len(main), m))


def shown_metrics(report: Report) -> list[str]:
    """What the study compares, the sizes of those sets, and macro averages where these differ from the plain ones.

    Of conformal sets those that are compared have their coverage and size beside them; where none are, all.
    """
    means = {(*a.candidate.place, a.metric): a.mean for a in report.confirmed}
    main = main_metrics(report.study)
    known = {metric for _, _, metric in means}
    compared = set(report.study.compared if report.study.compare.metrics else ())
    sizes = {metric for metric in main if Metric.parse(metric).rule and _accuracy(metric) in compared}
    conformal = {metric for metric in main if Metric.parse(metric).conformal}
    alike = _of_same_sets(main, compared)
    asked = {*(sizes | alike or main), *(alike or conformal), *compared, *report.study.compare.show}
    macro = {
        metric
        for (arm, point, metric), mean in means.items()
        if (plain := _plain(metric)) in main and _differ(mean, means.get((arm, point, plain)))
        if plain in asked or not Metric.parse(plain).conformal  # there may be many kinds of those
    }
    own = {users_metric(function, split="test").name for function in report.study.metrics}
    shown = asked | own | macro
    return in_order(report.study, (shown & known) or main)


def _plain(metric: str) -> str:
    return Metric.parse(metric).plain.name if Metric.find(metric) else metric


def _accuracy(metric: str) -> str:
    return replace(Metric.parse(metric), quantity="accuracy").name


def _of_same_sets(metrics: Iterable[str], others: Iterable[str]) -> set[str]:
    """The metrics of conformal sets that one of the others is of, too."""
    theirs = {Metric.parse(other).conformal for other in others} - {None}
    return {metric for metric in metrics if Metric.parse(metric).conformal in theirs}


def _differ(first: float | None, second: float | None) -> bool:
    return first is not None and second is not None and abs(first - second) > 1e-9
