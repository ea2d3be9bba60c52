"""RunResult: what one training gave."""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from setsweep.trainables.config.hits import Hits
from setsweep.trainables.config.run_config import RunConfig

LARGEST = 1e100
"""No number of a run is larger: a sum of squares of larger ones is no number any more."""

Cause = Literal["error", "memory", "worker"]


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What helps to find why a run failed.

    Args:
        traceback: of the exception.
        output: the last lines that the run wrote to stdout and stderr.
    """

    traceback: str
    output: str


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What one training gave.

    Args:
        key: the run key of its configuration.
        status: "done", "diverged" (a loss that is not finite) or "failed" (an error, a dead worker).
        cause: of a failure: "error" (one that the run raised), "memory" (its device had none left, which it may have
            had by itself) or "worker" (its process died); None where the status is not "failed".
        reason: why, where the status is not "done".
        metrics: final values by record name ("val/top2_accuracy", "test/avg2_set_size", ...).
        best_epoch: for each accuracy's short name ("top2_accuracy") the epoch whose model it reports, from 1.
        tested: for each kept epoch, one that some accuracy is best at, all test metrics of its model, by record name.
            With `best_epoch` they say what any metric was at the best epoch of any accuracy, see
            `trainables.evaluation.at_epoch`.
        epochs: the evaluated epochs, from 1.
        curves: for each per-epoch metric ("val/top2_accuracy", "train/loss") its values at `epochs`.
        thresholds: threshold of each k on the scores' probabilities.
        seconds: time spent in training and evaluation.
        started, finished: Unix times.
        attempts: how often the run was started until this result.
        host: where it ran.
        stopped: the epoch after which the training was given up for want of patience; None: it was not.
        pruned: the epoch after which a search has stopped it, as it was behind (`trainables.config.stopping`); None: it
            has not.
        runtime: what it ran on and with (see `trainables.device.runtime`); decides nothing, so two results that differ
            in it alone are equal.
        hits: which test images the run had right; follows from the rest, so that results from before it was kept are
            equal. None: of a run that was not tested, or is older than this record.
        trace: of a failure that the run raised itself, for its folder; no part of the record.
    """

    key: str
    status: Literal["done", "diverged", "failed"]
    reason: str | None = None
    cause: Cause | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    best_epoch: Mapping[str, int] = field(default_factory=dict)
    tested: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    epochs: tuple[int, ...] = ()
    curves: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    started: float = 0.0
    finished: float = 0.0
    attempts: int = 1
    host: str = ""
    stopped: int | None = None
    pruned: int | None = None
    runtime: Mapping[str, Any] = field(default_factory=dict, compare=False)
    hits: Hits | None = field(default=None, compare=False, repr=False)
    trace: Trace | None = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; a cause, hits and where it was pruned only where there are some, and no trace."""
        plain = dataclasses.asdict(self)
        del plain["trace"], plain["hits"]
        plain["tested"] = {str(epoch): metrics for epoch, metrics in plain["tested"].items()}
        for name in ("cause", "pruned"):
            if plain[name] is None:
                del plain[name]
        return plain if self.hits is None else {**plain, "hits": self.hits.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunResult:
        """The inverse of `to_dict`."""
        curves = {name: tuple(values) for name, values in plain.get("curves", {}).items()}
        tested = {int(epoch): metrics for epoch, metrics in plain.get("tested", {}).items()}
        hits = Hits.from_dict(plain["hits"]) if "hits" in plain else None
        epochs = tuple(plain.get("epochs", ()))
        return cls(**{**plain, "epochs": epochs, "curves": curves, "tested": tested, "hits": hits})


def failed(
    config: RunConfig,
    reason: str,
    *,
    cause: Cause = "error",
    started: float,
    attempts: int,
    trace: Trace | None = None,
) -> RunResult:
    """The result of a run that gave none."""
    return RunResult(
        key=config.key,
        status="failed",
        reason=reason,
        cause=cause,
        started=started,
        finished=time.time(),
        attempts=attempts,
        host=socket.gethostname(),
        trace=trace,
    )
