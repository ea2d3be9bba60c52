"""Suggestions by Optuna, a batch at a time, as a function of the study and of the batches already finished.

Every trial has a sampler of its own, seeded by study, arm, grid point and trial number, and a trial is suggested from
finished batches alone. So the suggestions are the same on any number of workers, and asking again from the start with
the same results gives the same trials: nothing of Optuna's state has to be stored.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, GPSampler, QMCSampler, RandomSampler, TPESampler

from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Search

optuna.logging.set_verbosity(optuna.logging.WARNING)


class ArmSearch:
    """The search of one arm at one grid point.

    Args:
        search: sampler, number of trials and size of a batch.
        searched: the spaces by path; trial 0 is their defaults.
        identity: what the seeds are made from: study, arm and point.
    """

    def __init__(self, search: Search, searched: Mapping[str, Space], *, identity: Sequence[Any]) -> None:
        self._search = search
        self._searched = dict(searched)
        self._distributions = {path: distribution(space) for path, space in searched.items()}
        self._default = {path: space.default for path, space in searched.items()}
        self._identity = list(identity)
        self._study = optuna.create_study(direction="maximize", sampler=RandomSampler(seed=0))
        self._sequence = self._quasi_random()
        self._grid = self._grid_rest() if search.sampler == "grid" else None
        self._open: list[optuna.trial.Trial | None] = []
        self._asked = 0

    @property
    def trials(self) -> int:
        """How many trials there will be: as many as asked for, or fewer where a grid has no more."""
        return self._search.trials if self._grid is None else min(self._search.trials, 1 + len(self._grid))

    def ask_batch(self) -> list[dict[str, Any]]:
        """The values by path of the next batch of trials; empty when all trials have been asked for."""
        assert not self._open, "a batch is asked for when the one before it has been told"
        size = min(self._search.batch, self.trials - self._asked)
        batch = [self._ask(self._asked + offset) for offset in range(size)]
        self._asked += size
        return batch

    def tell_batch(self, values: Sequence[float]) -> None:
        """The objective of each trial of the open batch, in its order."""
        for trial, value in zip(self._open, values, strict=True):
            if trial is None:
                self._add_default(value)
            else:
                self._study.tell(trial, value)
        self._open = []

    def _ask(self, number: int) -> dict[str, Any]:
        if number == 0 or self._grid is not None:
            self._open.append(None)
            return dict(self._grid[number - 1] if self._grid is not None and number > 0 else self._default)
        self._study.sampler = self._sequence or self._sampler(self._seed(number))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            trial = self._study.ask(self._distributions)
        self._open.append(trial)
        return dict(trial.params)

    def _add_default(self, value: float) -> None:
        """The default configuration may lie outside the searched ranges; then the sampler does not see it."""
        if self._grid is None and all(self._searched[path].contains(v) for path, v in self._default.items()):
            self._study.add_trial(
                optuna.trial.create_trial(params=self._default, distributions=self._distributions, value=value)
            )

    def _seed(self, number: int) -> int:
        text = json.dumps([*self._identity, number], sort_keys=True, default=str)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")

    def _sampler(self, seed: int) -> BaseSampler:
        if self._search.sampler == "tpe":
            return TPESampler(seed=seed, multivariate=True, constant_liar=True, n_startup_trials=self._startup())
        if self._search.sampler == "gp":
            return GPSampler(seed=seed, n_startup_trials=self._startup())
        return RandomSampler(seed=seed)

    def _startup(self) -> int:
        """Random trials before the model: a third of the budget, at least two batches where there is room."""
        return max(min(10, self._search.trials // 3), 2)

    def _quasi_random(self) -> BaseSampler | None:
        """A sequence only makes sense as a whole, so its sampler serves all trials."""
        if self._search.sampler != "qmc":
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return QMCSampler(scramble=True, seed=self._seed(0), independent_sampler=RandomSampler(self._seed(0)))

    def _grid_rest(self) -> list[dict[str, Any]]:
        """Every combination of the finite spaces but the default, the last path varying fastest."""
        combinations = itertools.product(*(space.values() for space in self._searched.values()))
        points = [dict(zip(self._searched, values, strict=True)) for values in combinations]
        return [point for point in points if point != self._default]


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
