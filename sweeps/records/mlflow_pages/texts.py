"""Results as a person reads them, in the text columns of MLflow's table and in descriptions: "93.53 ± 0.47"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from setsweep.sweeps.reports.wording import is_accuracy, is_share, metric_label, number, with_half_width
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.study.study import Stage, Study, point_key
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import SET_RULES, Metric, accuracy

RUNS = "runs"  # the column that counts them: "10 of 10"
CHOSEN = "chosen"  # the column with what the search chose


def reported_metrics(study: Study, stage: Stage) -> list[str]:
    """The metrics that a stage is about: the search's objective; what is compared, or else every test accuracy."""
    if stage == "search":
        return [study.search.objective] if study.search else []
    if study.compare.metrics:
        return list(study.compare.metrics)
    return [accuracy(rule, k, split="test").name for rule in SET_RULES for k in study.k]


def column(metric: str) -> str:
    """The name of a metric's text column: "top-2" of the test split, "val top-2" of another."""
    found = Metric.find(metric)
    label = metric_label(metric).rpartition(" (")[0] or metric
    return label if found is None or not found.sets or found.split in ("test", None) else f"{found.split} {label}"


def result_columns(study: Study, stage: Stage, found: Iterable[Aggregate]) -> dict[str, str]:
    """Column names to texts: of what the stage is about, and of all accuracies and set sizes on its split."""
    about = reported_metrics(study, stage)
    split = "test" if stage == "confirm" else "val"
    texts = {}
    for each in found:
        metric = Metric.find(each.metric)
        plain = metric is not None and metric.rule and metric.split == split and not (metric.macro or metric.at)
        if each.mean is not None and (plain or each.metric in about):
            texts[column(each.metric)] = with_half_width(each.metric, each.mean, each.ci_low, each.ci_high)
    return texts


def sentence(study: Study, stage: Stage, found: Sequence[Aggregate], done: int, planned: int) -> str:
    """What came of a configuration: "top-2 91.09 ± 0.64 %, avg-2 90.92 ± 0.73 %; 10 of 10 seeds"."""
    by_name = {each.metric: each for each in found}
    parts = []
    for metric in reported_metrics(study, stage):
        each = by_name.get(metric)
        if each is not None and each.mean is not None:
            text = with_half_width(metric, each.mean, each.ci_low, each.ci_high)
            parts.append(f"{column(metric)} {text}{' %' if is_share(metric) else ''}")
    return f"{', '.join(parts) or 'no result'}; {done} of {planned} seeds"


def run_sentence(study: Study, stage: Stage, result: RunResult) -> str:
    """What a run gave: "top-2 91.27 %, avg-2 90.80 %"; why it gave nothing, if so."""
    if result.status != "done":
        return result.reason or result.status
    known = [metric for metric in reported_metrics(study, stage) if metric in result.metrics]
    return ", ".join(
        f"{column(metric)} {number(metric, result.metrics[metric])}{' %' if is_share(metric) else ''}"
        for metric in known
    )


def runs_text(done: int, planned: int) -> str:
    """How many of the seeds are in the numbers: "10 of 10"."""
    return f"{done} of {planned}"


def order_key(study: Study, stage: Stage, point: Mapping[str, object], found: Sequence[Aggregate]) -> str:
    """Sorts as text: by grid point, within it by the study's own metric, the best first, the unknown last."""
    keys = [point_key(each) for each in study.points()]
    place = keys.index(point_key(point)) if point_key(point) in keys else len(keys)
    own = own_metric(study, stage)
    mean = next((each.mean for each in found if each.metric == own and each.mean is not None), None)
    rank = 1e9 if mean is None else (1 - mean if is_accuracy(own) else 1e6 + mean)
    return f"{place:05d} {rank:020.9f}"


def own_metric(study: Study, stage: Stage) -> str:
    """The metric that a study is about first of all."""
    if stage == "search":
        return study.search.objective if study.search else ""
    return study.primary
