"""Curve and plateau of one hyperparameter, in a table and in the sentence that a user takes home."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from setsweep.sweeps.reports.sensitivity.found import Findings, OneHyperparameter
from setsweep.sweeps.reports.sensitivity.words import between, means_over, place, points, row
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.reports.wording import MISSING, metric_label, setting
from setsweep.sweeps.statistics.sensitivity.curve import Curve


def curve_table(findings: Findings, one: OneHyperparameter, percentage: str) -> Table:
    """A row a value: mean and interval, n, the two bands of the whole curve, and what is to be said of it."""
    assert one.curve is not None
    curve = one.curve
    rows = []
    for index, value in enumerate(one.dimension.values):
        rows.append(
            row(
                setting(value),
                points(curve.mean[index]) + _interval(curve, index),
                str(curve.n[index]),
                between(curve.whole.low[index], curve.whole.high[index]),
                between(curve.shape.low[index], curve.shape.high[index]),
                ", ".join(_marks(findings, one, index)) or MISSING,
                strong=one.plateau is not None and value == one.plateau.best,
            )
        )
    title = f"{place(findings.tried)}: {one.dimension.name}{means_over(findings.tried, one.over)}"
    bands = (f"whole curve ({percentage})", f"shape ({percentage})")
    header = (one.dimension.name, metric_label(findings.tried.metric), "n", *bands, "")
    return Table(title, header, tuple(rows), (0, len(header) - 1))


def _interval(curve: Curve, index: int) -> str:
    """Half of the width; both ends where one was cut, as accuracies end there."""
    low, high = curve.pointwise.low[index], curve.pointwise.high[index]
    if low is None or high is None:
        return ""
    return f" ({between(low, high)})" if low == 0 or high == 1 else f" ± {points((high - low) / 2)}"


def plateau_sentences(findings: Findings, one: OneHyperparameter) -> Iterator[str]:
    """Which values can't be told from the best; or why that is not known."""
    if one.plateau is not None:
        yield f"{place(findings.tried)}: {one.plateau.sentence(one.dimension.name)}."
    elif one.reason:
        yield f"{place(findings.tried)}: no plateau of {one.dimension.name}: {one.reason}"


def _marks(findings: Findings, one: OneHyperparameter, index: int) -> Iterator[str]:
    value = one.dimension.values[index]
    if one.plateau is not None and one.plateau.members[index]:
        yield "best" if value == one.plateau.best else "not told from the best"
    if value == one.dimension.default:
        yield "default"
    if value == one.dimension.chosen:
        yield "chosen"
    tried = findings.tried
    of_value = [own[one.dimension.name] == value for own in tried.configurations]
    failed = int(np.nansum(tried.failed[of_value]))
    if failed:
        yield f"{failed} of {int(np.isfinite(tried.failed[of_value]).sum())} runs failed"
