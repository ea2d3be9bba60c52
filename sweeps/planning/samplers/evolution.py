"""CMA-ES: its generations are the batches, and its state is made again from the trials by asking and telling.

Optuna's own sampler of that name keeps its state beside the trials, where no journal has it; so the package is used.
Hansen, The CMA evolution strategy: a tutorial (2016).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setsweep.sweeps.planning.samplers.cube import from_cube, to_cube
from setsweep.sweeps.study.space import Space

_SIGMA = 0.3  # of the first generation, in a cube of side 1


class Evolution:
    """Asks CMA-ES in the unit cube, beginning at the default configuration where it lies inside.

    Args:
        spaces: by path, none of them a choice.
        start: the values that the first generation is drawn around; None: the middle.
        population: trials of a generation.
        seed: decides all draws.
    """

    def __init__(
        self, spaces: Mapping[str, Space], start: Mapping[str, Any] | None, population: int, seed: int
    ) -> None:
        self._spaces, self._start, self._population, self._seed = spaces, start, population, seed

    def ask(
        self, number: int, tried: Mapping[int, Mapping[str, Any]], objectives: Mapping[int, Sequence[float]]
    ) -> dict[str, Any]:
        """The values of a trial; see `sweeps.planning.samplers.search.OptunaSearch.ask`."""
        strategy = self._strategy()
        generation = number // self._population
        for before in range(generation):
            for _ in range(self._population):
                strategy.ask()  # the draws that were made
            numbers = range(before * self._population, (before + 1) * self._population)
            at = [np.array(to_cube(self._spaces, tried[each])) for each in numbers]
            strategy.tell([(each, -objectives[one][0]) for each, one in zip(at, numbers, strict=True)])
        for _ in range(number % self._population):
            strategy.ask()
        return from_cube(self._spaces, strategy.ask())

    def _strategy(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of packages for benchmarks of theirs, which nobody needs here
            from cmaes import CMA

        middle = [0.5] * len(self._spaces)
        mean = np.array(to_cube(self._spaces, self._start) if self._start is not None else middle)
        bounds = np.array([[0.0, 1.0]] * len(self._spaces))
        return CMA(
            mean=mean.clip(0.0, 1.0), sigma=_SIGMA, bounds=bounds, seed=self._seed, population_size=self._population
        )
