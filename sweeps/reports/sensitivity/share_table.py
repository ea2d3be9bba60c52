"""Shares of variance in a table, and in a sentence whether they mean anything."""

from __future__ import annotations

from collections.abc import Iterator

from setsweep.sweeps.reports.sensitivity.found import Findings
from setsweep.sweeps.reports.sensitivity.words import Block, p_text, percent, place, points, row
from setsweep.sweeps.reports.tables.table import Cell, Table
from setsweep.sweeps.reports.wording import MISSING, p_value, setting
from setsweep.sweeps.statistics.sensitivity.shares.crossed import REST, SEED, Shares
from setsweep.sweeps.statistics.sensitivity.shares.searched import DUMMY, Estimate, SearchShare, SearchShares
from setsweep.sweeps.statistics.sensitivity.shares.top import TopShares


def share_blocks(findings: Findings) -> Iterator[Block]:
    """The table of shares; or why there is none."""
    if isinstance(findings.shares, Shares):
        yield _of_grid(findings, findings.shares)
    elif findings.shares is not None:
        yield _of_scattered(findings, findings.shares)
        yield from _judged(findings, findings.shares)
    elif findings.no_shares:
        yield f"{place(findings.tried)}: no shares of variance: {findings.no_shares}"
    if findings.top is not None:
        yield _of_the_best(findings, findings.top)


def _of_grid(findings: Findings, shares: Shares) -> Table:
    rows = [
        row(" x ".join(each.source), _percent(each.share), points(each.deviation), p_value(each.p))
        for each in shares.rows
    ]
    header = ("source", "share of variance", "sd (points)", "p")
    return Table(f"{place(findings.tried)}: what makes scores differ{_without(findings, shares)}", header, tuple(rows))


def _without(findings: Findings, shares: Shares) -> str:
    """Which values are left out, as runs of theirs failed."""
    tried = findings.tried
    parts = [
        f"{each.name} {', '.join(setting(each.values[index]) for index in missing)}"
        for each, missing in zip(tried.dimensions, shares.left_out, strict=False)
        if missing
    ]
    seeds = shares.left_out[-1]
    parts += [f"seed {', '.join(str(tried.seeds[index]) for index in seeds)}"] if seeds else []
    return f", without {' and '.join(parts)}" if parts else ""


def _of_scattered(findings: Findings, shares: SearchShares) -> Table:
    rows = [_scattered_row(each, strong=shares.matters(each.name)) for each in shares.rows]
    rows.append(_scattered_row(shares.dummy, strong=False))
    whole = shares.configurations
    rows.append(row("all of these", _interval(whole), MISSING, points((whole.value * shares.variance) ** 0.5)))
    for name, share in ((SEED, shares.seed), (REST, shares.rest)):
        if share is not None:
            rows.append(row(name, _percent(share), MISSING, points((share * shares.variance) ** 0.5)))
    if shares.seed is None:
        rest = 1 - whole.value
        rows.append(row("a single run's noise", _percent(rest), MISSING, points((rest * shares.variance) ** 0.5)))
    header = ("source", f"alone ({percent(shares.confidence)})", "with interactions", "sd (points)")
    title = f"{place(findings.tried)}: what makes scores differ, by {shares.points} configurations"
    return Table(title, header, tuple(rows))


def _of_the_best(findings: Findings, top: TopShares) -> Table:
    """PED-ANOVA before it is made to add up to 100 %."""
    rows = [
        row(name, f"{100 * share:.1f} %", strong=share > top.dummy)
        for name, share in zip(top.names, top.shares, strict=True)
    ]
    rows.append(row(f"{DUMMY}, which does nothing", f"up to {100 * top.dummy:.1f} %"))
    title = f"{place(findings.tried)}: what decides whether one of {top.trials} trials is among the best {top.top:.0%}"
    return Table(title.replace("%", " %"), ("source", "share, alone"), tuple(rows))


def _scattered_row(each: SearchShare, *, strong: bool) -> tuple[Cell, ...]:
    name = f"{DUMMY}, which does nothing" if each.name == DUMMY else each.name
    return row(name, _interval(each.first), _interval(each.total), points(each.deviation), strong=strong)


def _judged(findings: Findings, shares: SearchShares) -> Iterator[str]:
    """Whether anything is told from noise, and what from the dummy."""
    if shares.nothing:
        yield (
            f"{place(findings.tried)}: nothing: the configurations can't be told from noise ({p_text(shares.p)}), "
            "so that no share means anything."
        )
        return
    matter = [each.name for each in shares.rows if shares.matters(each.name)]
    yield (
        f"{place(findings.tried)}: told from a hyperparameter that does nothing: {', '.join(matter) or 'none'} "
        f"(test of any effect: {p_text(shares.p)})."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _interval(each: Estimate) -> str:
    return f"{100 * max(0.0, each.value):.0f} % ({100 * each.low:.0f} to {100 * each.high:.0f})"
