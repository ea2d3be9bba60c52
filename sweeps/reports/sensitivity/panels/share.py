"""Shares of variance as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from setsweep.sweeps.reports.sensitivity.found import Findings
from setsweep.sweeps.statistics.sensitivity.shares.crossed import REST, SEED, Shares
from setsweep.sweeps.statistics.sensitivity.shares.searched import SearchShares

_GREY = "#999999"


def draw_shares(axis: Axes, findings: Findings, style: Mapping[str, Any]) -> None:
    """A bar a source; grey: seed and what is left, or the dummy, which nothing that matters is below."""
    shares = findings.shares
    axis.set_title("shares of variance")
    axis.set_xlabel("share of variance (%)")
    if isinstance(shares, Shares):
        rows = [(" x ".join(each.source), each.share, each.source[0] in (SEED, REST)) for each in shares.rows]
        colours = [_GREY if grey else style["color"] for _, _, grey in rows]
        axis.barh(range(len(rows)), [100 * share for _, share, _ in rows], color=colours, height=0.6)
        names = [name for name, _, _ in rows]
    else:
        assert shares is not None
        names = _scattered(axis, shares, style)
    axis.set_yticks(range(len(names)), names, fontsize=7)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xlim(0, 100)
    axis.grid(visible=True, axis="x", color="#e4e4e4", linewidth=0.6)


def _scattered(axis: Axes, shares: SearchShares, style: Mapping[str, Any]) -> list[str]:
    """Total shares with intervals, the dummy's among them; a band up to the upper end of the dummy's."""
    rows = [*shares.rows, shares.dummy]
    for place, each in enumerate(rows):
        colour = _GREY if each is shares.dummy or not shares.matters(each.name) else style["color"]
        axis.barh([place], [100 * each.total.value], color=colour, height=0.6, alpha=0.7)
        axis.plot([100 * each.total.low, 100 * each.total.high], [place, place], color="black", linewidth=1.2)
    axis.axvspan(0, 100 * shares.dummy.total.high, color=_GREY, alpha=0.15, linewidth=0, label="what noise may show")
    axis.set_xlabel("share of variance, interactions included (%)")
    return [each.name for each in rows]
