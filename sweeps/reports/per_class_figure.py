"""The figure of results by class: accuracy against the number of training images.

Importing this module imports matplotlib, which takes a second: do it where figures are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from setsweep.sweeps.reports.panels import LEGEND_WIDTH, add_legend, add_title, look, panels, save
from setsweep.sweeps.reports.wording import long_metric_label, settings
from setsweep.sweeps.reports.x_axis import lay_out, natural_scale
from setsweep.sweeps.statistics.methods.intervals import mean_interval
from setsweep.sweeps.study.study import Point, Study
from setsweep.trainables.evaluation.metric import accuracy

if TYPE_CHECKING:
    from pandas import DataFrame

BINS = 8  # of the classes, by training images, at most
LEAST = 4  # classes of a bin


def draw_per_class(study: Study, rows: DataFrame, point: Point, path: Path) -> Path | None:
    """A panel for each set rule and k: a dot for each class and arm, and lines through the means of bins of classes.

    A class's dot is its mean over seeds. A bin's mean is over its classes, with a t interval over seeds.

    Args:
        study: for names, arms and confidence.
        rows: `arm`, `stage`, `seed`, `class`, `train`, `accuracy`, `sets`, `k`, and the grid's columns; see
            `RescoredResult.per_class`.
        point: of the grid.
        path: of the PNG.
    """
    here = rows[(rows["stage"] == "confirm") & rows["accuracy"].notna()]
    for key, value in point.items():
        here = here[here[f"point.{key}"] == value]
    kinds = [*here[["k", "sets"]].drop_duplicates().itertuples(index=False, name=None)]
    if not kinds:
        return None
    figure, axes = panels(len(kinds), columns=2, width=4.4, height=3.2, margin=LEGEND_WIDTH)
    for axis, (k, rule) in zip(axes, kinds, strict=True):
        own = here[(here["k"] == k) & (here["sets"] == rule)]
        counts = sorted({int(count) for count in own["train"]})
        lay_out(axis, counts, natural_scale(counts))
        for index, arm in enumerate(study.arms):
            _draw_arm(axis, own[own["arm"] == arm], arm, look(index), study.compare.confidence)
        axis.set_ylim(-3, 103)
        axis.set_xlabel("training images of a class")
        axis.set_ylabel(long_metric_label(accuracy(rule, int(k), split="test").name))
    confidence = f"means of {LEAST} classes and more with {100 * study.compare.confidence:g} % intervals over seeds"
    add_title(figure, [study.name, settings(point), confidence])
    add_legend(figure, axes)
    return save(figure, path)


def bins_of(counts: Sequence[int]) -> list[list[int]]:
    """The positions of classes in bins of about equal size, by their training images; equal counts stay together.

    Args:
        counts: training images of each class.
    """
    order = np.argsort(counts, kind="stable")
    wanted = max(1, min(BINS, len(counts) // LEAST))
    found: list[list[int]] = [[]]
    for position in order.tolist():
        full = len(found[-1]) >= len(counts) / wanted
        if full and counts[position] != counts[found[-1][-1]]:
            found.append([])
        found[-1].append(position)
    if len(found) > 1 and len(found[-1]) < LEAST:
        found[-2] += found.pop()
    return found


def _draw_arm(axis: Axes, own: DataFrame, arm: str, style: dict[str, Any], confidence: float) -> None:
    """Dots of classes, and the means of bins."""
    if own.empty:
        return
    table = 100 * own.pivot_table(index="class", columns="seed", values="accuracy")
    train = own.groupby("class")["train"].first().loc[table.index].to_numpy()
    dots = {"color": style["color"], "marker": style["marker"], "alpha": 0.3, "s": 10, "linewidths": 0}
    axis.scatter(train, table.mean(axis=1), **dots)
    bins = bins_of(train.tolist())
    found = [mean_interval(table.iloc[each].mean().dropna().tolist(), confidence=confidence) for each in bins]
    x = [float(np.median(train[each])) for each in bins]
    means = [np.nan if each.mean is None else each.mean for each in found]
    axis.plot(x, means, label=arm, markersize=5, linewidth=1.4, **style)
    known = [(at, each) for at, each in zip(x, found, strict=True) if each.ci_low is not None]
    low, high = ([getattr(each, end) for _, each in known] for end in ("ci_low", "ci_high"))
    if len(known) == 1:
        axis.vlines([at for at, _ in known], low, high, color=style["color"], linewidth=1.4)
    axis.fill_between([at for at, _ in known], low, high, color=style["color"], alpha=0.15, linewidth=0)
