"""How far a study is, in the same numbers wherever they are told: a plan, the screen, a status, a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from setsweep.trainables.config.run_result import RunResult


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Runs by their state. Where two arms ask for the same training it is trained once, and counts in both.

    Args:
        total: all, those included that are not decided yet.
        done: those that ended well.
        diverged: those whose loss or scores were no numbers any more.
        failed: those that a machine or an error has ended.
    """

    total: int
    done: int
    diverged: int
    failed: int

    @property
    def ended(self) -> int:
        """Those that have a result, whatever it is."""
        return self.done + self.diverged + self.failed

    @property
    def left(self) -> int:
        """Those that have none, running ones included."""
        return max(0, self.total - self.ended)

    @property
    def ended_text(self) -> str:
        """``4 done, 3 diverged or failed``; the latter where there are any."""
        bad = self.diverged + self.failed
        return f"{self.done} done" + (f", {bad} diverged or failed" if bad else "")


def count_runs(results: Iterable[RunResult | None], total: int) -> Counts:
    """The counts of runs with these results, None being those without one, of `total` runs in all."""
    states = [result.status for result in results if result is not None]
    done, diverged, failed = (states.count(status) for status in ("done", "diverged", "failed"))
    return Counts(total=total, done=done, diverged=diverged, failed=failed)
