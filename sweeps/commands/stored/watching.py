"""``status --watch``: the same again and again, as long as something is being trained."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from setsweep.sweeps.records.running import RunningRun

WATCH_SECONDS = 2.0
NOBODY = "Nothing is being trained now."
MOST = 20  # lines of running runs


def watch(
    table: Callable[[], RenderableType], lines: Callable[[], Sequence[str]], console: Console | None = None
) -> None:
    """Show a table and the lines of what is being trained until there are none, or until Ctrl-C.

    On a terminal it is drawn in place; elsewhere it is printed where it has changed.

    Args:
        table: the table as it is now.
        lines: a line for each run that is being trained now.
        console: where to show it.
    """
    console = console or Console()
    before: Sequence[str] | None = None
    with Live(console=console, auto_refresh=False) as live:
        try:
            while True:
                now = lines()
                if console.is_terminal:
                    live.update(_shown(table(), now), refresh=True)
                elif now != before:
                    console.print(_shown(table(), now))
                if not now:
                    return
                before = now
                time.sleep(WATCH_SECONDS)
        except KeyboardInterrupt:
            return


def running_lines(runs: Sequence[RunningRun], metric: str) -> list[str]:
    """A line for each run, those that have told of an epoch first; of many the first ones."""
    told = sorted(runs, key=lambda run: not run.epoch)
    more = [f"and {len(told) - MOST} more"] if len(told) > MOST else []
    return [*(run.text(metric) for run in told[:MOST]), *more]


def _shown(table: RenderableType, lines: Sequence[str]) -> Group:
    return Group(table, *(Text(line) for line in lines or [NOBODY]))
