"""A race in thirds over seeds: few seeds for every trial, more for the best third, all for the last.

It is successive halving (Karnin, Koren and Somekh 2013) with thirds and over seeds: who goes on is decided by the mean
over the seeds that all who are still there have. There is no model of the noise to be wrong, and how many runs it takes
is known before, the same for every arm.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from setsweep.sweeps.planning.choice import Values, best_first, common_means

_THIRD = 3
_LEAST_LAST = 3  # who goes on to the third rung


@dataclass(frozen=True)
class Rung:
    """One round of a race.

    Args:
        seeds: how many each of its trials has at its end.
        trials: how many are in it.
    """

    seeds: int
    trials: int


@dataclass(frozen=True, kw_only=True)
class Round:
    """A rung of a race that is run.

    Args:
        seeds: that its trials have.
        means: of each over those seeds; empty while results are missing.
        survivors: who goes on, the best first; of the last round all, so that the first has won.
    """

    seeds: tuple[int, ...]
    means: Mapping[int, float]
    survivors: tuple[int, ...]

    @property
    def dropped(self) -> tuple[int, ...]:
        """Who does not go on, the best first."""
        return tuple(number for number in best_first(self.means) if number not in self.survivors)


def rungs(trials: int, seeds: int, last: int | None, least: int = 4) -> tuple[Rung, ...]:
    """The rungs of a race.

    Args:
        trials: in the first rung.
        seeds: of every trial.
        last: of the last ones; None: there is no race, and one rung.
        least: how many go on to the second rung at least.
    """
    found = [Rung(seeds, trials)]
    if last is None:
        return tuple(found)
    for power, most_few in ((1, least), (2, _LEAST_LAST)):
        rung = Rung(min(seeds * _THIRD**power, last), min(trials, max(most_few, math.ceil(trials / _THIRD**power))))
        if power == 2:
            rung = Rung(last, rung.trials)
        if rung.seeds > found[-1].seeds:
            found.append(rung)
    return tuple(found)


def runs_of(plan: Sequence[Rung]) -> int:
    """How many runs a race takes."""
    before = [0, *(rung.seeds for rung in plan[:-1])]
    return sum(rung.trials * (rung.seeds - seeds) for rung, seeds in zip(plan, before, strict=True))


def run_race(plan: Sequence[Rung], seeds: Sequence[int], values: Values, stopped: Collection[int] = ()) -> list[Round]:
    """The rounds so far, the last of them perhaps without means; pure, so whoever has the results can tell the race.

    Args:
        plan: see `rungs`.
        seeds: the seeds of a trial, in order, at least as many as the last rung has.
        values: of each trial that was decided, by seed.
        stopped: trials that were stopped before their end, which come after all others.
    """
    going = sorted(values)
    rounds: list[Round] = []
    for rung, after in zip(plan, (*plan[1:], None), strict=True):
        own = tuple(seeds[: rung.seeds])
        whole = len(going) == rung.trials and all(seed in values[number] for number in going for seed in own)
        if not whole:
            return [*rounds, Round(seeds=own, means={}, survivors=())]
        means = common_means({number: {seed: values[number][seed] for seed in own} for number in going})
        going = best_first(means, stopped)[: after.trials if after else None]
        rounds.append(Round(seeds=own, means=means, survivors=tuple(going)))
    return rounds
