"""Optuna's samplers: asked for one trial at a time, as a function of what is known of the trials before it.

Every trial has a sampler of its own with a seed of its own, so nothing of a sampler's state has to be stored. Optuna's
record of the trials is kept only to save the time of making it again; a new one from the same trials is as good.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, GPSampler, NSGAIISampler, TPESampler
from optuna.trial import TrialState, create_trial
from threadpoolctl import threadpool_limits

from setsweep.sweeps.study.space import Space

optuna.logging.set_verbosity(optuna.logging.ERROR)  # its warnings are of itself: no greenlet, say

Values = Mapping[str, Any]
Direction = Literal["maximize", "minimize"]


class OptunaSearch:
    """Asks one of Optuna's samplers.

    Args:
        sampler: "gp", "tpe" or "nsga2".
        spaces: by path.
        directions: "maximize" or "minimize", for each objective.
        batch: trials that are asked for together; the population of "nsga2".
    """

    def __init__(self, sampler: str, spaces: Mapping[str, Space], directions: Sequence[Direction], batch: int) -> None:
        self._sampler, self._batch = sampler, batch
        self._distributions = {path: distribution(space) for path, space in spaces.items()}
        self._study = optuna.create_study(directions=[*directions], sampler=TPESampler(seed=0))
        self._numbers: dict[int, int] = {}  # Optuna's, of our trials
        self._count = 0  # of Optuna's
        self._told: set[int] = set()

    def ask(
        self, number: int, tried: Mapping[int, Values], objectives: Mapping[int, Sequence[float]], seed: int
    ) -> dict[str, Any]:
        """The values of a trial.

        Args:
            number: of the trial.
            tried: the values of trials before it, by their numbers.
            objectives: of those that are finished; the others are being trained.
            seed: for the sampler.
        """
        for other in sorted(tried):
            self._take(other, tried[other], objectives.get(other))
        # One thread: matrices of a few trials gain nothing by more, which would wait for each other where runs train.
        with threadpool_limits(1), warnings.catch_warnings():
            # What Optuna says of itself: that a sampler may change.
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            self._study.sampler = self._new_sampler(seed)
            trial = self._study.ask(self._distributions)
        self._count += 1
        self._study.tell(trial, state=TrialState.FAIL)  # it is taken when it is decided
        return dict(trial.params)

    def _take(self, number: int, values: Values, objectives: Sequence[float] | None) -> None:
        """Let Optuna know of a trial, or of its end."""
        if number in self._told:
            return
        if number not in self._numbers:
            self._numbers[number] = self._count
            self._count += 1
            generation = {"NSGAIISampler:generation": number // self._batch} if self._sampler == "nsga2" else {}
            self._study.add_trial(
                create_trial(
                    state=TrialState.RUNNING,
                    params=dict(values),
                    distributions=self._distributions,
                    system_attrs=generation,
                )
            )
        if objectives is not None:
            self._study.tell(self._numbers[number], list(objectives))
            self._told.add(number)

    def _new_sampler(self, seed: int) -> BaseSampler:
        if self._sampler == "gp":
            return GPSampler(seed=seed, n_startup_trials=1)
        if self._sampler == "nsga2":
            return NSGAIISampler(seed=seed, population_size=self._batch)
        return TPESampler(seed=seed, multivariate=True, constant_liar=True, n_startup_trials=1)


def distribution(space: Space) -> BaseDistribution:
    """Optuna's form of a search space."""
    if space.kind == "choice":
        return CategoricalDistribution(space.choices)
    assert space.low is not None
    assert space.high is not None
    log = space.kind.startswith("log_")
    if space.kind in ("int", "log_int"):
        return IntDistribution(int(space.low), int(space.high), log=log)
    return FloatDistribution(space.low, space.high, log=log)
