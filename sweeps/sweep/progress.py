"""What a running sweep shows: a line that is redrawn on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.running import Running, live_metric
from setsweep.sweeps.reports.wording import is_accuracy, number, settings
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import accuracy

LOG_SECONDS = 30.0
SHOWN, LOGGED = 8, 2  # running runs on a terminal, and in a log


class Progress:
    """Runs done, running, failed and left; the means that the report will have of every arm so far; the time left.

    Args:
        study: what runs.
        planner: knows the results.
        console: where to show it.
        verbose: whether each run that ends gets a line.
        expected: the seconds that all of it takes, as far as is known before anything is trained; None: not known.
    """

    def __init__(
        self,
        study: Study,
        planner: Planner,
        *,
        console: Console,
        verbose: bool = False,
        expected: float | None = None,
    ) -> None:
        self.study, self.planner, self.console, self.verbose = study, planner, console, verbose
        self.note = ""
        self._expected = expected
        self._began = self._logged = time.monotonic()
        self._at_start = planner.done
        self._first = True
        self._running = Running()
        self._first_of_arm: set[str] = set()
        self._live = Live(console=self.console, refresh_per_second=4, transient=True, get_renderable=self._shown)

    def __enter__(self) -> Progress:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def started(self, run: PlannedRun) -> None:
        """It is a run's turn to be trained."""
        self._running.started(run)

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run has its result."""
        self._running.finished(run.key)
        if self.verbose and result.status == "done":
            shown = " ".join(part for part in (run.arm, settings(run.point), _values(run), f"seed {run.seed}") if part)
            self._say(f"done: {shown}: {self._result(result)}{result.seconds:.1f} s on {result.host}")
        if result.status != "done":
            self._say(f"{result.status}: {run.arm} {_values(run)} seed {run.seed}: {result.reason}", style="red")
        elif self._first:
            self._first = False
            self._say(f"first result {time.monotonic() - self._began:.1f} s after the training began")

    def news(self, moments: Sequence[Moment]) -> None:
        """What running runs have come to."""
        self._running.news(moments)

    def tick(self) -> None:
        """Log a line now and then where nothing is redrawn."""
        if not self.console.is_terminal and time.monotonic() - self._logged > LOG_SECONDS:
            self._logged = time.monotonic()
            raced = self.study.search is not None and self.study.search.race is not None
            arms = [f"{name}: {self.doing(name)}" for name, arm in self.study.arms.items() if raced and arm.searched]
            self._say("; ".join([self.summary(), *arms]))
            for line in self._running_lines(LOGGED):
                self._say(line)

    def summary(self) -> str:
        """One line: how far the study is."""
        counts, running = self.planner.counts(), len(self._running)
        parts = [f"{counts.done} of {counts.total} runs done", f"{running} running"]
        parts += [f"{counts.diverged + counts.failed} failed", f"{max(0, counts.left - running)} left"]
        parts += [self._time_left()]
        return ", ".join(part for part in [*parts, self.note] if part)

    def doing(self, arm: str) -> str:
        """What an arm is at: "rung 2 of 3: 6 trials x 3 seeds", and where that differs, at how many points."""
        doing = self.planner.doing(arm)
        at = {what: f" at {points} {'point' if points == 1 else 'points'}" for what, points in doing.items()}
        return "; ".join(what + (at[what] if len(doing) > 1 else "") for what in doing)

    def _result(self, result: RunResult) -> str:
        """The validation metric that a search would go by."""
        own = accuracy("avg", self.study.k[-1], split="val").name
        metric = own if self.study.search is None else self.study.search.objective
        value = result.metrics.get(metric)
        return "" if value is None else f"{metric} {number(metric, value)}{' %' if is_accuracy(metric) else ''}, "

    def _say(self, text: str, *, style: str | None = None) -> None:
        """Brackets in it are text: the reason of a failure may hold anything."""
        self.console.print(text, style=style, highlight=False, markup=False)

    def seconds_left(self) -> float | None:
        """From what was trained since the beginning, runs that are half done counting half; before that as expected."""
        half = sum(run.share for run in self._running.runs.values())
        new, spent = self.planner.done - self._at_start + half, time.monotonic() - self._began
        if new:
            return spent / new * (self.planner.total - self.planner.done - half)
        return None if self._expected is None else max(0.0, self._expected - spent)

    def _time_left(self) -> str:
        seconds = self.seconds_left()
        return "" if seconds is None else to_go(seconds)

    def _running_lines(self, most: int) -> list[str]:
        """Of the runs that are being trained and have told of an epoch, the first ones."""
        told = [run for run in self._running.runs.values() if run.epoch]
        lines = [f"  {run.text(live_metric(self.study))}" for run in told[:most]]
        return lines + ([f"  and {len(told) - most} more"] if len(told) > most else [])

    def _shown(self) -> Group:
        """The table of arms, and below it the runs that are being trained."""
        return Group(self._table(), *(Text(line, style="dim") for line in self._running_lines(SHOWN)))

    def _table(self) -> Table:
        table = Table(title=Text(f"{self.study.name}: {self.summary()}"), title_justify="left", box=None)
        search = self.study.search
        searched = [] if search is None else [f"best of search: {search.objective}"]
        for heading in ("arm", *searched, f"confirmed: {self.study.primary}", "done", "failed", "at"):
            table.add_column(heading, justify="left" if heading in ("arm", "at") else "right")
        for arm in self.study.arms:
            counts, best = self.planner.counts(arm), self.planner.best(arm)
            shown = [_range(search.objective, [each.searched for each in best])] if search else []
            shown += [_range(self.study.primary, [each.confirmed for each in best])]
            table.add_row(arm, *shown, str(counts.done), str(counts.diverged + counts.failed), self.doing(arm))
        return table


def _range(metric: str, means: Sequence[float | None]) -> str:
    """A mean over seeds as the report has it; of several grid points the least and the largest."""
    known = sorted(mean for mean in means if mean is not None)
    ends = list(dict.fromkeys(number(metric, mean) for mean in (known[:1] + known[-1:])))
    return " to ".join(ends) + (" %" if ends and is_accuracy(metric) else "")


def to_go(seconds: float) -> str:
    """``about 7 min to go``."""
    return f"about {duration(seconds)} to go"


def duration(seconds: float) -> str:
    """Seconds, minutes, hours or days, as people say it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def _values(run: PlannedRun) -> str:
    return " ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in run.params.items()
    )
