"""What a result looks like in MLflow: params, tags and metric rows, in plain Python (no MLflow needed).

Metric rows carry the epoch as their step. The final value of a metric that also has a curve follows at the last
epoch's step with a later time, so that MLflow's latest value is the final one. Every row of a run depends on its
result alone: written twice, it is the same row. MLflow takes no ``@`` in a name: it is written as ``at``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.statistics.aggregates import aggregate, epoch_aggregates
from setsweep.trainables.config.run_result import RunResult

Pairs = Sequence[tuple[PlannedRun, RunResult]]

MAX_DESCRIPTION = 8000  # characters of a run tag, MLflow's limit
STATISTICS = ("mean", "ci_low", "ci_high", "std", "n")


class MetricRow(NamedTuple):
    """One value of one metric; `time` in milliseconds since 1970."""

    name: str
    value: float
    time: int
    step: int


def milliseconds(seconds: float) -> int:
    """A Unix time as MLflow counts it."""
    return round(seconds * 1000)


def params(planned: PlannedRun) -> dict[str, str]:
    """The hyperparameters and the grid point of a configuration."""
    values = {**planned.params, **planned.point}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}


def place_tags(planned: PlannedRun) -> dict[str, str]:
    """The tags that say where in the study a run or an aggregate belongs."""
    return {
        "arm": planned.arm,
        "stage": planned.stage,
        "point": json.dumps(dict(planned.point)),
        **({} if planned.trial is None else {"trial": str(planned.trial)}),
    }


def run_tags(planned: PlannedRun, result: RunResult) -> dict[str, str]:
    """The tags of a run; `reason` and the description say why it gave no metrics, if so."""
    reason = {"reason": result.reason, "mlflow.note.content": result.reason} if result.reason else {}
    runtime = ", ".join(f"{name} {value}" for name, value in result.runtime.items())
    return {
        **place_tags(planned),
        "level": "run",
        "run_key": planned.key,
        "seed": str(planned.seed),
        "result": result.status,
        "attempts": str(result.attempts),
        "host": result.host or "unknown",
        **({"runtime": runtime} if runtime else {}),
        **({} if result.stopped is None else {"stopped": str(result.stopped)}),
        **{name: shorten(text, MAX_DESCRIPTION) for name, text in reason.items()},
    }


def aggregate_tags(planned: PlannedRun) -> dict[str, str]:
    """The tags of an aggregate, known from any of its runs."""
    return {**place_tags(planned), "level": "aggregate", "run_key": group_key(planned), "current": "true"}


def content_tags(pairs: Pairs) -> dict[str, str]:
    """The tags of an aggregate that depend on its results: which went into it, and which failed why."""
    failed = {pair[0].seed: pair[1].reason or pair[1].status for pair in pairs if pair[1].status != "done"}
    ended = sorted((result.key, result.status, result.finished) for _, result in pairs)
    at_others = sorted({name for _, result in pairs for name in result.metrics if "@" in name})
    note = "".join(f"- seed {seed} gave no metrics: {reason}\n" for seed, reason in sorted(failed.items()))
    return {
        "seeds": ", ".join(str(seed) for seed in sorted(planned.seed for planned, _ in pairs)),
        "failed": str(len(failed)),
        "mlflow.note.content": shorten(note, MAX_DESCRIPTION),
        "content": _digest([*ended, *at_others]),
    }


def group_key(planned: PlannedRun) -> str:
    """16 hexadecimal digits that name an aggregate: its place in the study and its configuration without the seed."""
    config = {name: value for name, value in planned.config.to_dict().items() if name != "seed"}
    return _digest([planned.arm, dict(planned.point), planned.stage, planned.trial, dict(planned.params), config])


def run_name(planned: PlannedRun) -> str:
    """What the list of runs shows."""
    return f"{aggregate_name(planned)} seed {planned.seed}"


def aggregate_name(planned: PlannedRun) -> str:
    """Arm, grid point and trial, e.g. ``avgk label_noise=0.2 trial 3``."""
    point = [f"{path.rpartition('.')[2]}={value}" for path, value in planned.point.items()]
    return " ".join([planned.arm, *point, *([] if planned.trial is None else [f"trial {planned.trial}"])])


def run_rows(result: RunResult) -> Iterator[MetricRow]:
    """The curves and the final values of a run; epochs are taken to last equally long."""
    started, finished = milliseconds(result.started), milliseconds(result.finished)
    last = result.epochs[-1] if result.epochs else 0
    for name, values in result.curves.items():
        for epoch, value in zip(result.epochs, values, strict=True):
            yield MetricRow(name, value, started + (finished - started) * epoch // (last + 1), epoch)
    for name, value in result.metrics.items():
        if name not in result.curves or result.curves[name][-1] != value:
            yield MetricRow(_recorded(name), value, finished, last)


def aggregate_rows(
    pairs: Pairs, *, confidence: float, time: int, expected: Sequence[str] = (), pilot: int | None = None
) -> Iterator[MetricRow]:
    """Mean, interval, deviation and number of seeds of every metric, by epoch and final.

    Args:
        pairs: the runs of one configuration and their results.
        confidence: of the intervals.
        expected: metrics that are shown with n = 0 where no run gave any.
        pilot: see `aggregate`.
        time: milliseconds; later than any earlier version of this aggregate, so that these values are its latest.
    """
    last = 0
    for curve in epoch_aggregates(pairs, confidence=confidence):
        last = max(last, curve.epochs[-1])
        for statistic in STATISTICS:
            for epoch, value in zip(curve.epochs, getattr(curve, statistic), strict=True):
                if value is not None:
                    yield MetricRow(f"{curve.metric}/{statistic}", value, time, epoch)
    if not any(result.status == "done" for _, result in pairs):
        yield from (MetricRow(f"{metric}/n", 0, time, 0) for metric in expected)
    for final in aggregate(pairs, confidence=confidence, pilot=pilot):
        for statistic in STATISTICS:
            value = getattr(final, statistic)
            if value is not None:
                yield MetricRow(f"{_recorded(final.metric)}/{statistic}", value, time + 1, last)


def shorten(text: str, limit: int) -> str:
    """The text, or as many whole lines of it as fit, with a note that there is more."""
    if len(text) <= limit:
        return text
    note = "\n\n(Shortened to what MLflow takes here.)"
    kept = text[: limit - len(note)]
    return (kept.rpartition("\n")[0] or kept) + note


def _recorded(metric: str) -> str:
    return metric.replace("@", " at ")


def _digest(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=_plain).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)
