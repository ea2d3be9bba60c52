"""What to try next: a function of the study, of the trials before and of the results that are known.

The first trials are quasi-random, as many whatever the number of trials asked for, so that asking for more changes none
of them. Optuna is imported only when it is asked.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from setsweep.sweeps.planning.samplers.cube import from_cube, sobol
from setsweep.sweeps.study.design.addresses import point_for
from setsweep.sweeps.study.study import Arm, Point, Search, Study
from setsweep.trainables.evaluation.metric import Metric

if TYPE_CHECKING:
    from setsweep.sweeps.planning.samplers.search import OptunaSearch

START = 8
"""Trials that are quasi-random before a model is asked, the default configuration among them."""
MOST_FOR_GP = 100
"""Trials up to which `auto` asks a Gaussian process."""
_ATTEMPTS = 3  # at a configuration that is not tried yet


class Suggestions:
    """What an arm tries at a point.

    Args:
        study: what is asked for; it has a search.
        arm: has something to search.
        point: of the grid.
    """

    def __init__(self, study: Study, arm: Arm, point: Point) -> None:
        assert study.search is not None
        self._search, self._arm = study.search, arm
        self._identity = [study.name, arm.name, point_for(point, arm)]
        self._sampler = sampler_of(study.search, arm)

    def ask(
        self, number: int, tried: Mapping[int, Mapping[str, Any]], objectives: Mapping[int, Sequence[float]]
    ) -> dict[str, Any]:
        """The values of a trial by path; never those of one before it.

        Args:
            number: of the trial.
            tried: the values of the trials before it, by their numbers.
            objectives: of those trials that are finished; the others are being trained.
        """
        before = [*tried.values()]
        if self._sampler == "grid":
            values = next(itertools.islice(self._all(), number, None))
            return values if values not in before else next(each for each in self._all() if each not in before)
        if number == 0 and self._arm.tries_default:
            return self._arm.default
        for attempt in range(_ATTEMPTS):
            values = self._draw(number, tried, objectives, attempt)
            if values not in before:
                return values
        return self._untried(number, before) or self._at_random(number, _ATTEMPTS)

    def _draw(
        self,
        number: int,
        tried: Mapping[int, Mapping[str, Any]],
        objectives: Mapping[int, Sequence[float]],
        attempt: int,
    ) -> dict[str, Any]:
        """One suggestion; later attempts are other ones."""
        if self._sampler == "cmaes" and not attempt:
            own: dict[str, Any] = self._evolution.ask(number, tried, objectives)
            return own
        start = self._sampler == "qmc" or number < START or not objectives
        if start and self._sampler not in ("random", "cmaes") and not attempt:
            return self._sobol(number)
        if start or self._sampler in ("random", "cmaes"):
            return self._at_random(number, attempt)
        return self._optuna.ask(number, tried, objectives, self._seed(number, attempt))

    def _at_random(self, number: int, attempt: int) -> dict[str, Any]:
        import numpy as np

        chance = np.random.default_rng(self._seed(number, attempt))
        return from_cube(self._arm.searched, [*chance.random(len(self._arm.searched))])

    def _sobol(self, number: int) -> dict[str, Any]:
        """The trial of the sequence; the default configuration stands before it where it is tried."""
        index = number - self._arm.tries_default
        points = sobol(len(self._arm.searched), 2 ** math.ceil(math.log2(index + 2)), self._seed(0))
        return from_cube(self._arm.searched, [*points[index]])

    def _untried(self, number: int, before: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        """Of finite spaces of which little is left: any that is not tried yet."""
        import numpy as np

        if self._arm.combinations is None:
            return None
        left = [values for values in self._all() if values not in before]
        return left[np.random.default_rng(self._seed(number)).integers(len(left))] if left else None

    def _all(self) -> Iterator[dict[str, Any]]:
        """Every combination of finite spaces, the last path varying fastest."""
        searched = self._arm.searched
        for values in itertools.product(*(space.values() for space in searched.values())):
            yield dict(zip(searched, values, strict=True))

    def _seed(self, *numbers: int) -> int:
        text = json.dumps([*self._identity, *numbers], sort_keys=True, default=str)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")

    @cached_property
    def _optuna(self) -> OptunaSearch:
        from setsweep.sweeps.planning.samplers.search import Direction, OptunaSearch

        directions: list[Direction] = [
            "maximize" if more_is_better(metric) else "minimize" for metric in self._search.objectives
        ]
        return OptunaSearch(self._sampler, self._arm.searched, directions, self._search.batch)

    @cached_property
    def _evolution(self) -> Any:
        from setsweep.sweeps.planning.samplers.evolution import Evolution

        start = self._arm.default if self._arm.tries_default else None
        return Evolution(self._arm.searched, start, self._search.batch, self._seed(0))


def sampler_of(search: Search, arm: Arm) -> str:
    """The sampler that an arm is searched by, where "auto" is one of them."""
    if search.sampler != "auto":
        return search.sampler
    ranges = all(space.kind != "choice" for space in arm.searched.values())
    return "gp" if ranges and search.trials <= MOST_FOR_GP else "tpe"


def more_is_better(metric: str) -> bool:
    """Whether a metric is maximised: accuracies are, set sizes are not."""
    return Metric.parse(metric).is_accuracy
