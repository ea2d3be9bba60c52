"""The pictures of a sensitivity report: a row of panels an arm, one file a point of the grid.

Importing this module imports matplotlib, which takes a second: do it where pictures are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setsweep.sweeps.reports.panels import add_legend, add_title, look, save
from setsweep.sweeps.reports.sensitivity.found import Findings
from setsweep.sweeps.reports.sensitivity.panels.curve import draw_curve
from setsweep.sweeps.reports.sensitivity.panels.heat import draw_everywhere, draw_heat_map
from setsweep.sweeps.reports.sensitivity.panels.parallel import draw_parallel
from setsweep.sweeps.reports.sensitivity.panels.scatter import draw_failures, draw_slice
from setsweep.sweeps.reports.sensitivity.panels.share import draw_shares
from setsweep.sweeps.reports.sensitivity.panels.tuning import draw_tuning
from setsweep.sweeps.reports.sensitivity.places import OverPoints
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity, Tuning
from setsweep.sweeps.reports.sensitivity.words import percent
from setsweep.sweeps.reports.wording import settings
from setsweep.sweeps.study.study import Point

Draw = Callable[[Axes], None]

_WIDTH, _HEIGHT = 3.9, 3.3  # inches of a panel
_DPI = 150


def draw_all(found: Sensitivity, folder: Path) -> list[Path]:
    """One picture of designs and one of searches for each point that has them, and one over all points."""
    drawn = []
    for kind, findings in (("design", found.designs), ("search", found.searches)):
        for number, point in enumerate(found.study.points(), 1):
            own = [each for each in findings if each.tried.point == point]
            if own:
                rows = [(each.tried.arm, _panels(found, each, of_search=kind == "search")) for each in own]
                subject = "sensitivity" if kind == "design" else "what the search's trials say"
                title = [found.study.name, settings(point), subject, f"{percent(found.study.compare.confidence)} bands"]
                drawn.append(_draw(rows, title, folder / f"{kind}-{number}.png"))
    if found.over_points:
        rows = [(each.tried[0].arm, [_everywhere(each)]) for each in found.over_points]
        drawn.append(_draw(rows, [found.study.name, "does one value serve everywhere?"], folder / "everywhere.png"))
    return drawn


def _panels(found: Sensitivity, findings: Findings, *, of_search: bool) -> list[Draw]:
    """Curves, shares, tuning curve, heat map, failures: those that there is something for, in this order."""
    tried, index = findings.tried, list(found.study.arms).index(findings.tried.arm)
    style = look(index)
    baseline = None if tried.arm == found.study.compare.baseline else found.baseline_at(tried.point, tried.metric)
    gridlike = tried.designed and tried.is_grid
    panels: list[Draw] = []
    for number in range(len(findings.along)):
        if gridlike:
            panels.append(lambda axis, number=number: draw_curve(axis, findings, number, style, baseline))  # type: ignore[misc]
        else:
            panels.append(lambda axis, number=number: draw_slice(axis, findings, number, style))  # type: ignore[misc]
    if findings.shares is not None:
        panels.append(lambda axis: draw_shares(axis, findings, style))
    if not gridlike and len(findings.along) > 1:
        panels.append(lambda axis: draw_parallel(axis, findings))
    curve = next((each for each in found.tunings if _is_of(each, tried.arm, tried.point)), None)
    if of_search and curve is not None and curve.curve is not None:
        panels.append(lambda axis: draw_tuning(axis, curve, style))
    if findings.equal is not None:
        panels.append(lambda axis: draw_heat_map(axis, findings))
    for number, one in enumerate(findings.along):
        if one.rates:
            panels.append(lambda axis, number=number: draw_failures(axis, findings, number, style))  # type: ignore[misc]
    return panels


def _is_of(each: Tuning, arm: str, point: Point) -> bool:
    return (each.arm, each.point) == (arm, point)


def _everywhere(each: OverPoints) -> Draw:
    return lambda axis: draw_everywhere(axis, each)


def _draw(rows: Sequence[tuple[str, Sequence[Draw]]], title: Sequence[str], path: Path) -> Path:
    columns = max(len(panels) for _, panels in rows)
    legend = 2.2
    figure = Figure(figsize=(columns * _WIDTH + legend, len(rows) * _HEIGHT + 0.5), layout="constrained", dpi=_DPI)
    axes = []
    for row, (arm, panels) in enumerate(rows):
        for column, draw in enumerate(panels):
            axis = figure.add_subplot(len(rows), columns, row * columns + column + 1)
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_axisbelow(True)
            draw(axis)
            axis.set_title(f"{arm}\n{axis.get_title()}", fontsize=9)
            axes.append(axis)
    add_title(figure, title)
    add_legend(figure, axes)
    return save(figure, path)
