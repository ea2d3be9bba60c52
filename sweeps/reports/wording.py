"""How metrics, numbers, grid points and hyperparameters are put into words, the same in every table and figure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from setsweep.sweeps.statistics.comparisons import Comparison
from setsweep.sweeps.statistics.methods.intervals import cut_to
from setsweep.sweeps.statistics.over_images import OverImages
from setsweep.sweeps.statistics.over_sets import OverSets
from setsweep.sweeps.study.study import Point, Study
from setsweep.trainables.evaluation.metric import Metric

MISSING = "-"


def metric_label(name: str) -> str:
    """A short name with the unit: "test/avg2_accuracy" is "avg-2 (%)"; a metric of another form stays as it is.

    A metric of the user's is called as its function.

    What is read at the best epoch of another accuracy says so: "top-1 at best avg-2 (%)".
    """
    metric = Metric.find(name)
    if metric is not None and metric.own:
        return " ".join([short_name(metric.own), *([f"at best {_sets_of(metric.at)}"] if metric.at else [])])
    return name if metric is None or not metric.sets else _label(metric, _sets_of(metric), _short(metric))


def short_name(function: str) -> str:
    """A function of the user's without its module: "my_metrics:mean_rank" is "mean rank"."""
    return function.partition(":")[2].replace("_", " ")


def long_metric_label(name: str) -> str:
    """A full name with the unit, for axes: "test/avg2_accuracy" is "test average-2 accuracy (%)"."""
    metric = Metric.find(name)
    if metric is None or not metric.sets:
        return name
    sets = f"average-{metric.k}" if metric.rule == "avg" else _sets_of(metric)
    label = _label(replace(metric, group=None, at=None), sets, "")
    of_group = f" {metric.group}" if metric.group else ""
    what = metric.quantity.replace("_", " ")
    at = f" at the best {_sets(metric.at)}" if metric.at else ""
    return f"{metric.split} {label.replace(' (', f'{of_group} {what}{at} (')}"


def _label(metric: Metric, sets: str, what: str) -> str:
    parts = ["macro" if metric.macro else "", sets, what, metric.group or ""]
    parts += [f"at best {_sets(metric.at)}"] if metric.at else []
    return f"{' '.join(part for part in parts if part)} ({'%' if metric.is_share else 'labels'})"


def _short(metric: Metric) -> str:
    """What of the sets is measured: "size", "size p50", "coverage"; nothing where that is the accuracy."""
    return "" if metric.is_accuracy else metric.quantity.removeprefix("set_").replace("_", " ")


def _sets_of(metric: Metric) -> str:
    """The sets: "top-2", "avg-2", "lac-90", "classwise lac-90"."""
    if metric.conformal is None:
        return f"{metric.rule}-{metric.k}"
    calibration, _, own = metric.conformal.name.rpartition("_")
    return f"{calibration} {metric.conformal.score}-{own.removeprefix(metric.conformal.score)}".strip()


def _sets(criterion: Metric) -> str:
    return f"{'macro ' if criterion.macro else ''}{criterion.rule}-{criterion.k}"


def is_accuracy(name: str) -> bool:
    """Whether the metric is a share of examples, of which more is better."""
    metric = Metric.find(name)
    return metric is not None and metric.is_accuracy


def is_share(name: str) -> bool:
    """Whether the metric is a share, shown in percent."""
    metric = Metric.find(name)
    return metric is not None and metric.is_share


def more_is_better(name: str) -> bool:
    """Whether a larger value of the metric is the better one."""
    metric = Metric.find(name)
    return metric is not None and metric.more_is_better


def scaled(metric: str, value: float) -> float:
    """The value in the unit that it is shown in: percent for a share."""
    return 100 * value if is_share(metric) else value


def number(metric: str, value: float | None, *, signed: bool = False) -> str:
    """The value alone, with two decimals where it is of sets."""
    if value is None:
        return MISSING
    sign = "+" if signed else ""
    known = Metric.find(metric)
    kind = ".2f" if known is not None and known.sets else ".4g"
    return f"{scaled(metric, value):{sign}{kind}}"


def with_half_width(
    metric: str, value: float | None, low: float | None, high: float | None, *, signed: bool = False
) -> str:
    """The value and the half-width of its interval: "93.52 ± 0.41"; the value alone where there is no interval.

    An interval of a share that reaches beyond 0 or 100 % is cut there and given by its ends: "99.80 [99.41, 100]".
    """
    if low is None or high is None:
        return number(metric, value, signed=signed)
    if is_share(metric) and not signed and cut_to(low, high).cut:
        return f"{number(metric, value)} {in_brackets(metric, low, high)}"
    return f"{number(metric, value, signed=signed)} ± {number(metric, (high - low) / 2)}"


def in_brackets(metric: str, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """The ends of an interval: "[92.80, 93.38]"; those of a share itself are cut at 0 and 100 %."""
    if low is None or high is None:
        return MISSING
    if not is_share(metric) or signed:
        return f"[{number(metric, low, signed=signed)}, {number(metric, high, signed=signed)}]"
    ends = cut_to(low, high)
    lower = "0" if low < 0 else number(metric, ends.ci_low)
    return f"[{lower}, {'100' if high > 1 else number(metric, ends.ci_high)}]"


def half_open(metric: str, low: float | None, high: float | None) -> str:
    """The ends of a difference's interval, 0 itself being left out: "(0, +1.20]"; of one with one end: "> 0", "< 0"."""
    if low is not None and high is None:
        return "> 0" if low == 0 else f"> {number(metric, low, signed=True)}"
    if high is not None and low is None:
        return "< 0" if high == 0 else f"< {number(metric, high, signed=True)}"
    if low is not None and high is not None and 0 in (low, high):
        return f"(0, {number(metric, high, signed=True)}]" if low == 0 else f"[{number(metric, low, signed=True)}, 0)"
    return in_brackets(metric, low, high, signed=True)


def contrast_name(study: Study, comparison: Comparison | OverSets | OverImages) -> str:
    """The arm, where it is compared with the baseline of the study; else both."""
    c = comparison
    return c.arm if c.baseline == study.compare.baseline else f"{c.arm} - {c.baseline}"


def place(subject: str, point: Point) -> str:
    """A title with the grid point that it is about."""
    return f"{subject}, {settings(point)}" if point else subject


def p_value(p: float | None) -> str:
    """Three decimals; below them "<0.001"."""
    if p is None:
        return MISSING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def settings(values: Mapping[str, Any]) -> str:
    """A grid point or hyperparameters: "alpha = 0.316, num_samples = 3"."""
    return ", ".join(f"{name} = {setting(value)}" for name, value in values.items())


def setting(value: Any) -> str:
    """One value of a grid point or hyperparameter as YAML has it, floats with at most three significant digits."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, Mapping):
        return str(value["name"]) if "name" in value else "{" + settings(value) + "}"
    return str(value)


def seeds(numbers: tuple[int, ...]) -> str:
    """The seeds, runs of three and more shortened: (0, 1, 2, 3, 7) is "0-3, 7"."""
    ranges: list[list[int]] = []
    for seed in sorted(numbers):
        if ranges and seed == ranges[-1][-1] + 1:
            ranges[-1].append(seed)
        else:
            ranges.append([seed])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in ranges)


def count(n: int, planned: int) -> str:
    """How many of those planned: "10", or "4 of 5" where some are missing."""
    return str(n) if n == planned else f"{n} of {planned}"
