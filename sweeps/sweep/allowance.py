"""What is left of a study's budget while it runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping

from setsweep.sweeps.study.budget import Budget
from setsweep.trainables.config.run_result import RunResult

HOUR = 3600.0


class BudgetSpent(Exception):  # noqa: N818 - no error: it is the end that was asked for
    """The study has taken what it may; the message says of what, as ``budget.max_runs is 10``."""


class Allowance:
    """Says when a sweep has to end.

    Args:
        budget: of the study.
        gpus: what a run has of a GPU.
        now: the clock, in seconds.
    """

    def __init__(self, budget: Budget, *, gpus: float = 0.0, now: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._gpus, self._now = budget, gpus, now
        self._began = now()
        self._since: dict[str, float] = {}  # when each run began that is being trained

    def started(self, key: str) -> None:
        """A run has begun."""
        self._since.setdefault(key, self._now())

    def finished(self, key: str) -> None:
        """A run has ended."""
        self._since.pop(key, None)

    def more_runs(self, taken: int) -> float:
        """How many runs may be trained besides so many."""
        return math.inf if self._budget.max_runs is None else max(0, self._budget.max_runs - taken)

    def check(self, results: Mapping[str, RunResult]) -> None:
        """Whether there is time left, and GPU time.

        Args:
            results: of the study so far.

        Raises:
            BudgetSpent: there is none.
        """
        hours, most = (self._now() - self._began) / HOUR, self._budget.max_time
        if most is not None and hours >= most:
            raise BudgetSpent(f"budget.max_time is {most:g} h")
        limit = self._budget.max_gpu_hours
        if limit is not None and self._gpu_hours(results.values()) >= limit:
            raise BudgetSpent(f"budget.max_gpu_hours is {limit:g}")

    def check_runs(self, left: int) -> None:
        """Called when nothing is trained any more. Raises BudgetSpent: that is so since no more runs may be."""
        if left > 0 and self._budget.max_runs is not None:
            raise BudgetSpent(f"budget.max_runs is {self._budget.max_runs}")

    def _gpu_hours(self, results: Iterable[RunResult]) -> float:
        now = self._now()
        seconds = sum(result.seconds for result in results) + sum(now - since for since in self._since.values())
        return seconds * self._gpus / HOUR
