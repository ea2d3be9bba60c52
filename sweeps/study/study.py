"""A study: what a study file asks for, checked and with every default filled in."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from setsweep.sweeps.study.space import Space
from setsweep.trainables.config.run_config import without_later

Stage = Literal["search", "confirm"]
Point = Mapping[str, Any]


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


@dataclass(frozen=True, kw_only=True)
class Search:
    """How hyperparameters are chosen: on validation, with seeds of their own.

    Args:
        trials: configurations per arm and grid point, the default configuration included.
        sampler: "tpe", "random", "qmc", "grid" or "gp".
        objective: the validation metric to maximise, e.g. "val/avg2_accuracy".
        seeds: every trial is trained with each of them.
        batch: trials asked for at once; the suggestions of a batch depend on finished batches alone.
    """

    trials: int
    sampler: Literal["tpe", "random", "qmc", "grid", "gp"] = "tpe"
    objective: str
    seeds: tuple[int, ...]
    batch: int = 4


@dataclass(frozen=True, kw_only=True)
class Compare:
    """Which differences are tested: every arm against `baseline`, paired by seed."""

    baseline: str | None = None
    confidence: float = 0.95
    correction: Literal["holm", "bonferroni", "none"] = "holm"
    metrics: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What one run occupies, and how runs share a worker.

    Args:
        cpus: CPUs of a run, each for one thread.
        gpus: GPUs of a run, a share of one included; "auto": as many runs to a GPU as a probe finds best.
        seeds_per_worker: how many seeds of a configuration train side by side; "auto": as many as a probe finds best.
    """

    cpus: float = 1
    gpus: float | Literal["auto"] = 0
    seeds_per_worker: int | Literal["auto"] = 1


@dataclass(frozen=True, kw_only=True)
class Study:
    """A checked study.

    Args:
        data, model: name and settings, defaults filled in (see `trainables.config.run_config.RunConfig`).
        training: the fixed values of `training`, as nested plain data; searched ones are in the arms.
        k: the set sizes to report, ascending.
        arms: by name, in the order of the file.
        grid: path ("data.label_noise", "training.batch_size") to the values; every arm runs at every point.
        search: None where no arm has anything to search.
        confirm_seeds: the fresh seeds that the reported test numbers come from; disjoint from the search's.
        data_root: where the data files lie; None: the default. Not part of what decides a result.
        text: the study file with its overrides, as YAML, for the records.
        path: where it was read, as messages show it.
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
    compare: Compare = field(default_factory=Compare)
    resources: Resources = field(default_factory=Resources)
    data_root: str | None = None
    download: bool = False
    text: str = ""
    path: str = ""
    notes: tuple[str, ...] = ()

    def points(self) -> list[Point]:
        """Every point of the grid, the last key varying fastest; one empty point where there is no grid."""
        return [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]

    def protocol(self) -> dict[str, Any]:
        """The fields whose change makes new results incomparable with old ones, as plain data.

        More trials, arms, grid values or seeds to confirm with, other comparisons and resources go with what is there.
        """
        searching = {} if self.search is None else dataclasses.asdict(self.search)
        searching.pop("trials", None)
        fields = {"data": self.data, "model": self.model, "training": self.training, "k": self.k, "search": searching}
        return without_later(json.loads(json.dumps(fields)))
