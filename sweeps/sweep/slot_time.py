"""How much of the time of a sweep its slots have trained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from setsweep.trainables.config.run_result import RunResult


def training_seconds(results: Sequence[RunResult], *, since: float) -> float:
    """The seconds that a sweep has trained for these results.

    A run that was begun in an earlier sweep has the time from before its checkpoint in its own; that is left out. Where
    its worker died in this sweep, what it had trained until then counts. Seeds that train side by side began at the
    same moment and share the time.

    Args:
        results: those that have come in this sweep.
        since: when it began, a Unix time.
    """
    together = Counter((result.host, result.started) for result in results)
    return sum(
        min(result.seconds, _own_seconds(result, since) / together[result.host, result.started]) for result in results
    )


def _own_seconds(result: RunResult, since: float) -> float:
    """From the first moment at which this sweep may have trained the run to its end."""
    return max(0.0, result.finished - (since if result.attempts > 1 else result.started))
