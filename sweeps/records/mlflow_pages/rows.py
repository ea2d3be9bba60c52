"""What a result looks like in MLflow: params, tags and metric rows, in plain Python (no MLflow needed).

Metric rows carry the epoch as their step. The final value of a metric that also has a curve follows at the last
epoch's step with a later time, so that MLflow's latest value is the final one; one without a curve is at step 0, of
which the UI draws a bar. Every row of a run depends on its
result alone: written twice, it is the same row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow_pages.metrics import BAND, STATISTICS
from setsweep.sweeps.records.mlflow_pages.params import short
from setsweep.sweeps.records.mlflow_pages.texts import (
    CHOSEN,
    RUNS,
    order_key,
    result_columns,
    run_sentence,
    runs_text,
    sentence,
)
from setsweep.sweeps.records.mlflow_pages.view import ORDER
from setsweep.sweeps.statistics.aggregates import Aggregate, aggregate, epoch_aggregates
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

Pairs = Sequence[tuple[PlannedRun, RunResult]]

NOTE = "mlflow.note.content"  # the description
MAX_DESCRIPTION = 8000  # characters of a run tag, MLflow's limit
CONTENT, WRITTEN = "mlflow.setsweep.content", "mlflow.setsweep.written"  # hidden by the UI, like all of "mlflow."
LIVE = "mlflow.setsweep.live"  # of a run that is shown while it is trained: "true" until it has its result
DIGITS = 6  # of an aggregate's numbers: more are noise, and fill the screen


class MetricRow(NamedTuple):
    """One value of one metric; `time` in milliseconds since 1970."""

    name: str
    value: float
    time: int
    step: int


def milliseconds(seconds: float) -> int:
    """A Unix time as MLflow counts it."""
    return round(seconds * 1000)


def place_tags(planned: PlannedRun) -> dict[str, str]:
    """The tags that say where in the study a run or an aggregate belongs."""
    return {
        "arm": planned.arm,
        "stage": planned.stage,
        "point": json.dumps(dict(planned.point)),
        **({} if planned.trial is None else {"trial": str(planned.trial)}),
    }


def run_tags(study: Study, planned: PlannedRun, result: RunResult) -> dict[str, str]:
    """The tags of a run; `reason` and the description say why it gave no metrics, if so, and else what it gave."""
    note = run_sentence(study, planned.stage, result)
    reason = {"reason": result.reason, NOTE: result.reason} if result.reason else {NOTE: note} if note else {}
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
        **({} if result.pruned is None else {"pruned": str(result.pruned)}),
        **{name: shorten(text, MAX_DESCRIPTION) for name, text in reason.items()},
    }


def aggregate_tags(planned: PlannedRun) -> dict[str, str]:
    """The tags of an aggregate, known from any of its runs."""
    return {**place_tags(planned), "level": "aggregate", "run_key": group_key(planned), "current": "true"}


def content_tags(pairs: Pairs, planned: int | None = None) -> dict[str, str]:
    """The tags of an aggregate that depend on its results: which went into it, and which failed why.

    Args:
        pairs: the runs that have a result.
        planned: how many there will be; None: that is all.
    """
    failed = {pair[0].seed: pair[1].reason or pair[1].status for pair in pairs if pair[1].status != "done"}
    note = "".join(f"- seed {seed} gave no metrics: {reason}\n" for seed, reason in sorted(failed.items()))
    return {
        "seeds": ", ".join(str(seed) for seed in sorted(planned.seed for planned, _ in pairs)),
        "failed": str(len(failed)),
        NOTE: shorten(note, MAX_DESCRIPTION),
        CONTENT: content(pairs, planned),
    }


def content(pairs: Pairs, planned: int | None = None) -> str:
    """Names what is in an aggregate; arguments as of `content_tags`."""
    ended = sorted((result.key, result.status, result.finished) for _, result in pairs)
    at_others = sorted({name for _, result in pairs for name in result.metrics if "@" in name})
    return digest([planned or len(pairs), *ended, *at_others])


def aggregate_content(study: Study, pairs: Pairs, planned: int | None, chosen: str) -> dict[str, str]:
    """All tags of an aggregate that depend on its results: `content_tags`, the text columns, a sentence on top.

    Args:
        study: says what its metrics are, and in which order its points are.
        pairs: the runs that have a result.
        planned: how many there will be; None: that is all.
        chosen: the hyperparameters that a search found, in words; "" where there was none.
    """
    one = pairs[0][0]
    found = aggregate(pairs, confidence=study.compare.confidence, pilot=study.pilot)
    done = sum(result.status == "done" for _, result in pairs)
    tags = content_tags(pairs, planned)
    said = sentence(study, one.stage, found, done, planned or len(pairs))
    note = f"{said}\n\n{tags[NOTE]}" if tags[NOTE] else said
    return {
        **result_columns(study, one.stage, found),
        RUNS: runs_text(done, planned or len(pairs)),
        ORDER: order_key(study, one.stage, one.point, found),
        **({CHOSEN: chosen} if chosen and one.stage == "confirm" else {}),
        **tags,
        NOTE: shorten(note, MAX_DESCRIPTION),
    }


def group_key(planned: PlannedRun) -> str:
    """16 hexadecimal digits that name an aggregate: its place in the study and its configuration without the seed."""
    config = {name: value for name, value in planned.config.to_dict().items() if name != "seed"}
    return digest([planned.arm, dict(planned.point), planned.stage, planned.trial, dict(planned.params), config])


def run_name(planned: PlannedRun) -> str:
    """What the list of runs shows."""
    return f"{aggregate_name(planned)} seed {planned.seed}"


def aggregate_name(planned: PlannedRun) -> str:
    """Arm, grid point and trial, e.g. ``avgk shift=90 trial 3``."""
    point = [f"{path.rpartition('.')[2]}={short(value)}" for path, value in planned.point.items()]
    return " ".join([planned.arm, *point, *([] if planned.trial is None else [f"trial {planned.trial}"])])


def running_tags(planned: PlannedRun) -> dict[str, str]:
    """The tags of a run that is being trained."""
    own = {"level": "run", "run_key": planned.key, "seed": str(planned.seed), "result": "running"}
    return {**place_tags(planned), **own, LIVE: "true"}


def waiting_tags(study: Study, planned: PlannedRun, seeds: int) -> dict[str, str]:
    """The tags of an aggregate none of whose runs has ended."""
    return {
        **aggregate_tags(planned),
        RUNS: runs_text(0, seeds),
        ORDER: order_key(study, planned.stage, planned.point, []),
    }


def run_rows(result: RunResult) -> Iterator[MetricRow]:
    """The curves and the final values of a run; epochs are taken to last equally long.

    The UI lists metrics in the order in which they were written: what the test split gave comes first.
    """
    started, finished = milliseconds(result.started), milliseconds(result.finished)
    last = result.epochs[-1] if result.epochs else 0
    finals = [
        MetricRow(_recorded(name), value, finished, last if name in result.curves else 0)
        for name, value in result.metrics.items()
        if name not in result.curves or result.curves[name][-1] != value
    ]
    yield from (row for row in finals if _is_test(row.name))
    for name, values in result.curves.items():
        for epoch, value in zip(result.epochs, values, strict=True):
            yield MetricRow(name, value, started + (finished - started) * epoch // (last + 1), epoch)
    yield from (row for row in finals if not _is_test(row.name))


def aggregate_rows(
    pairs: Pairs, *, confidence: float, time: int, expected: Sequence[str] = (), pilot: int | None = None
) -> Iterator[MetricRow]:
    """Mean, interval, deviation and number of seeds of every metric; mean and interval of its curve by epoch as well.

    A metric without a curve has its values at step 0, of which the UI draws a bar.

    Args:
        pairs: the runs of one configuration and their results.
        confidence: of the intervals.
        expected: metrics that are shown with n = 0 where no run gave any.
        pilot: see `aggregate`.
        time: milliseconds; later than any earlier version of this aggregate, so that these values are its latest.
    """
    final = list(_final_rows(pairs, aggregate(pairs, confidence=confidence, pilot=pilot), time, expected))
    yield from (row for row in final if _is_test(row.name))
    for curve in epoch_aggregates(pairs, confidence=confidence):
        for statistic in BAND:
            for epoch, value in zip(curve.epochs, getattr(curve, statistic), strict=True):
                if value is not None:
                    yield MetricRow(f"{curve.metric}/{statistic}", rounded(value), time, epoch)
    yield from (row for row in final if not _is_test(row.name))


def _final_rows(pairs: Pairs, finals: Sequence[Aggregate], time: int, expected: Sequence[str]) -> Iterator[MetricRow]:
    done = [result for _, result in pairs if result.status == "done"]
    last = {
        name: max(result.epochs[-1] for result in done if name in result.curves)
        for name in {name for result in done for name in result.curves}
    }
    if not any(result.status == "done" for _, result in pairs):
        yield from (MetricRow(f"{metric}/n", 0, time, 0) for metric in expected)
    for final in finals:
        for statistic in STATISTICS:
            value = getattr(final, statistic)
            if value is not None:
                step = last.get(final.metric, 0) if statistic in BAND else 0
                yield MetricRow(f"{_recorded(final.metric)}/{statistic}", rounded(value), time + 1, step)


def _recorded(metric: str) -> str:
    return metric.replace("@", " at ")


def _is_test(name: str) -> bool:
    return name.startswith("test/")


def rounded(value: float) -> float:
    """To as many digits as an aggregate's numbers have."""
    return float(f"{value:.{DIGITS}g}")


def shorten(text: str, limit: int) -> str:
    """The text, or as many whole lines of it as fit, with a note that there is more."""
    if len(text) <= limit:
        return text
    note = "\n\n(Shortened to what MLflow takes here.)"
    kept = text[: limit - len(note)]
    return (kept.rpartition("\n")[0] or kept) + note


def digest(plain: Any) -> str:
    """16 hexadecimal digits that name plain data."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=_plain).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)
