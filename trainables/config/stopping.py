"""When a run of a search gives up: where it stays below what trials before it had at the same epoch.

The bounds are part of the configuration, so that a run that is stopped is still decided by its configuration alone, and
is another run than the one that is trained to its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsweep.trainables.settings.problems import ConfigError, Problem
from setsweep.trainables.settings.rules import listed, real, text, whole

_SEEDS = listed(whole(0))
_BOUND = listed(real(), length=2)


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """Bounds on the mean of a validation metric over seeds that train together.

    The mean is of what each seed would report if it ended there: of its best epoch so far, with ``keep: last`` of its
    last one; a seed that has diverged counts 0.

    Args:
        metric: by its name in records, e.g. "val/avg2_accuracy".
        seeds: whose mean it is. Where fewer of them train together nothing is stopped.
        below: epochs, and the means below which the seeds are stopped there.
    """

    metric: str
    seeds: tuple[int, ...]
    below: tuple[tuple[int, float], ...]

    def stops(self, epoch: int, values: Mapping[int, float]) -> bool:
        """Whether an epoch is the last.

        Args:
            epoch: that was evaluated.
            values: of each seed that trains here.
        """
        bound = dict(self.below).get(epoch)
        if bound is None or set(values) != set(self.seeds):
            return False
        return sum(values[seed] for seed in self.seeds) / len(self.seeds) < bound

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"metric": self.metric, "seeds": list(self.seeds), "below": [list(each) for each in self.below]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Stopping:
        """The inverse of `to_dict`."""
        below = tuple((int(epoch), float(value)) for epoch, value in plain["below"])
        return cls(metric=plain["metric"], seeds=tuple(plain["seeds"]), below=below)


def check_stopping(plain: Any) -> Stopping | None:
    """The bounds of a configuration, if it has any. Raises ConfigError."""
    if plain is None:
        return None
    if not isinstance(plain, Mapping) or plain.keys() != {"metric", "seeds", "below"}:
        raise ConfigError([Problem("stopping", f"must have metric, seeds and below, got {plain!r}.")])
    try:
        below: Sequence[Any] = listed(_BOUND).check(plain["below"])
        given = {"metric": text().check(plain["metric"]), "seeds": _SEEDS.check(plain["seeds"]), "below": below}
    except ValueError as error:
        raise ConfigError([Problem("stopping", str(error))]) from None
    return Stopping.from_dict(given)
