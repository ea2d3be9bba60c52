"""A study: what a study file asks for, checked and with every default filled in."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from setsweep.sweeps.study.budget import Budget
from setsweep.sweeps.study.parts import Compare, Confirm, Keep, Resources
from setsweep.sweeps.study.published import Published
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.varied import Sensitivity
from setsweep.trainables.config.run_config import without_later
from setsweep.trainables.conformal.how import Conformal
from setsweep.trainables.conformal.sets import ConformalSets, all_sets
from setsweep.trainables.evaluation.metric import Metric, accuracy, plain_accuracies
from setsweep.trainables.settings.yaml_text import dump_yaml

Stage = Literal["search", "confirm", "default", "front", "sensitivity"]
Sampler = Literal["auto", "gp", "tpe", "qmc", "random", "grid", "cmaes", "nsga2"]
Point = Mapping[str, Any]

FIRST_SEARCH_SEED = 1000
MAX_SEEDS = 1000


def point_key(point: Point) -> str:
    """Names a point where a key must be hashable: the values of a user's own data may be lists."""
    return repr(dict(point))


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A loss with fixed and searched values.

    Args:
        name: the key under `arms`; the loss's name unless the arm says `loss:`.
        loss: the loss's name.
        fixed: values by their path in a run configuration, e.g. ``{"loss.num_samples": 3}``.
        searched: search spaces by path, e.g. ``{"loss.alpha": Space(...), "training.batch_size": Space(...)}``,
            those of the study's own `training` block included.
    """

    name: str
    loss: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    searched: Mapping[str, Space] = field(default_factory=dict)

    @property
    def combinations(self) -> int | None:
        """How many configurations there are to try; None where a range is continuous."""
        sizes = [space.size for space in self.searched.values()]
        return None if None in sizes or not sizes else math.prod(size for size in sizes if size is not None)

    @property
    def default(self) -> dict[str, Any]:
        """The default of each searched value, by path."""
        return {path: space.default for path, space in self.searched.items()}

    @property
    def tries_default(self) -> bool:
        """Whether the default configuration lies inside of all that is searched."""
        return all(space.contains(space.default) for space in self.searched.values())


@dataclass(frozen=True, kw_only=True)
class Pruner:
    """How trials that are behind are stopped before their end, see `sweeps.planning.pruning`.

    Args:
        name: the rule.
        startup: how many trials must have been trained to their end before any is stopped.
        warmup: how many epochs every trial is given.
        factor: of successive halving: one trial in so many goes on from rung to rung.
    """

    name: Literal["median", "successive_halving"]
    startup: int = 8
    warmup: int = 1
    factor: int = 3


@dataclass(frozen=True, kw_only=True)
class Search:
    """How hyperparameters are chosen: on validation, with seeds of their own.

    Args:
        trials: configurations per arm and grid point, the default configuration included.
        sampler: what suggests them; "auto": "gp" up to 100 trials where an arm searches ranges alone, else "tpe".
        objective: the validation metric to maximise, e.g. "val/avg2_accuracy".
        further: metrics beside the objective, where a front is searched: more accuracy, smaller sets.
        seeds: every trial is trained with each of them.
        race: with how many seeds the last of a race are trained; None: no race, all trials have the same seeds.
        least: how many trials go on to the second rung of a race at least.
        batch: trials asked for at once; the suggestions of a batch depend on finished batches alone.
        front: of several objectives: how many members of the front are confirmed at most.
        asynchronous: suggest from whatever has finished instead.
        pruner: how trials that are behind are stopped; None: all are trained to their end.
        fill: whether trials beyond the combinations that there are become further seeds of each.
        saturated: whether runs whose sets are saturated count by their numbers all the same; else as failed.
    """

    trials: int
    sampler: Sampler = "auto"
    objective: str
    further: tuple[str, ...] = ()
    seeds: tuple[int, ...]
    race: int | None = None
    least: int = 4
    batch: int = 4
    front: int = 4
    asynchronous: bool = False
    pruner: Pruner | None = None
    fill: bool = True
    saturated: bool = False

    @property
    def objectives(self) -> tuple[str, ...]:
        """All metrics that are searched for."""
        return (self.objective, *self.further)

    def first_seeds(self, count: int) -> tuple[int, ...]:
        """The first seeds of a trial: `seeds`, then those that come next, the same for every trial and arm."""
        more = (seed for seed in itertools.count(FIRST_SEARCH_SEED) if seed not in self.seeds)
        return tuple(itertools.islice(itertools.chain(self.seeds, more), count))

    def trials_of(self, arm: Arm) -> int:
        """How many configurations of an arm are tried: no more than there are; of a grid all."""
        there_are = arm.combinations
        if there_are is None:
            return self.trials
        return there_are if self.sampler == "grid" else min(self.trials, there_are)

    def seeds_of(self, arm: Arm) -> tuple[int, ...]:
        """The seeds of each trial: where there are fewer configurations than trials, the trials left are more seeds."""
        there_are = arm.combinations
        if there_are is None or self.sampler == "grid" or self.race is not None or not self.fill:
            return self.seeds
        return self.first_seeds(max(len(self.seeds), min(self.trials * len(self.seeds) // there_are, MAX_SEEDS)))

    def protocol(self) -> dict[str, Any]:
        """What decides the choice beside the number of trials, as plain data; what came later where it is not usual."""
        later = {"further": (), "race": None, "least": 4, "front": 4, "asynchronous": False, "pruner": None}
        apart = ("trials", "fill", "saturated")
        fields = {name: each for name, each in dataclasses.asdict(self).items() if name not in apart}
        return {name: each for name, each in fields.items() if name not in later or each != later[name]}


@dataclass(frozen=True, kw_only=True)
class Study:
    """A checked study.

    Args:
        data, model: name and settings, defaults filled in (see `trainables.config.run_config.RunConfig`); of those that
            are searched the default.
        training: the fixed values of `training`, as nested plain data; searched ones are in the arms.
        k: the set sizes to report, ascending.
        coverage: of the conformal sets to report, ascending; none: none are made.
        conformal: how those are made.
        arms: by name, in the order of the file.
        grid: path ("data.label_noise", "training.batch_size") to the values; every arm runs at every point.
        search: None where no arm has anything to search.
        confirm_seeds: the fresh seeds that the reported test numbers come from; disjoint from the search's. Of a
            confirmation to a precision: those of its pilot.
        confirm: what is confirmed beside the choices, and to what precision.
        sensitivity: a designed study of hyperparameters; None: there is none.
        published: numbers of papers that the study's are held against.
        reproduces: tables and figures of papers that it repeats, beside those of its published numbers.
        leaves_out: what it leaves out of what a paper has done; empty: nothing.
        has_small_form: whether it can be run at a small scale as well.
        budget: what it may take at most. Not part of what decides a result.
        data_root: where the data files lie; None: the default. Not part of what decides a result.
        given: what the study file holds, with its overrides.
        path: where it was read, as messages show it.
        metrics: of the user's own, see `trainables.config.run_config.RunConfig`.
        notes: what reading it has changed to make the overrides fit, one sentence each; to be shown.
    """

    name: str
    about: str = ""
    data: Mapping[str, Any]
    model: Mapping[str, Any]
    training: Mapping[str, Any]
    k: tuple[int, ...]
    arms: Mapping[str, Arm]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    search: Search | None = None
    confirm_seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    confirm: Confirm = field(default_factory=Confirm)
    sensitivity: Sensitivity | None = None
    compare: Compare = field(default_factory=Compare)
    keep: Keep = field(default_factory=Keep)
    coverage: tuple[float, ...] = ()
    conformal: Conformal = field(default_factory=Conformal)
    resources: Resources = field(default_factory=Resources)
    published: tuple[Published, ...] = ()
    reproduces: tuple[str, ...] = ()
    leaves_out: str = ""
    has_small_form: bool = False
    budget: Budget = field(default_factory=Budget)
    data_root: str | None = None
    download: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    notes: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The study file with its overrides, as YAML, for the records."""
        return dump_yaml(self.given)

    @property
    def at_epochs(self) -> tuple[str, ...]:
        """The metrics asked for that are read at the best epoch of another accuracy."""
        asked = (*self.compare.metrics, *self.compare.show, *(each.metric for each in self.published))
        return tuple(name for name in dict.fromkeys(asked) if Metric.parse(name).at is not None)

    @property
    def conformal_sets(self) -> tuple[ConformalSets, ...]:
        """The conformal sets to report."""
        return all_sets(self.coverage, self.conformal.scores, self.conformal.calibrations)

    def points(self) -> list[Point]:
        """Every point of the grid, the last key varying fastest; one empty point where there is no grid."""
        return [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]

    @property
    def pilot(self) -> int | None:
        """How many seeds decide how many a confirmation has; None where that is given."""
        return None if self.confirm.half_width is None else len(self.confirm_seeds)

    @property
    def primary(self) -> str:
        """The test metric that differences are judged by first.

        The one that `compare` names; else the objective's on test, or without a search average-k at the largest k; else
        the first of those compared, where these lack it.
        """
        if self.compare.primary is not None:
            return self.compare.primary
        own = accuracy("avg", self.k[-1]) if self.search is None else Metric.parse(self.search.objective)
        usual, metrics = own.on("test").name, self.compare.metrics
        return usual if usual in metrics or not metrics else metrics[0]

    @property
    def compared(self) -> tuple[str, ...]:
        """The metrics that arms are compared by, the primary among them."""
        metrics = self.compare.metrics or tuple(each.on("test").name for each in plain_accuracies(self.k))
        return metrics if self.primary in metrics else (self.primary, *metrics)

    def protocol(self) -> dict[str, Any]:
        """The fields whose change makes new results incomparable with old ones, as plain data.

        More trials, arms, grid values or seeds to confirm with, other comparisons and resources go with what is there.
        """
        searching = {} if self.search is None else self.search.protocol()
        data, model = (self._unsearched(section) for section in ("data", "model"))
        fields = {"data": data, "model": model, "training": self.training, "k": self.k, "search": searching}
        if self.metrics:
            fields["metrics"] = self.metrics
        return without_later(json.loads(json.dumps(fields)))

    def _unsearched(self, section: str) -> dict[str, Any]:
        """The `data` or `model` of the study without what is searched."""
        searched = {path for arm in self.arms.values() for path in arm.searched}
        return {key: value for key, value in vars(self)[section].items() if f"{section}.{key}" not in searched}
