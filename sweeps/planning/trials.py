"""Trials that were decided before: the journal's trials are the search, and nobody is asked for them again."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.study.design.configuration import plain_config
from setsweep.sweeps.study.study import Arm, Point, Study
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import without_later

Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Configurations that a search has decided to try, in a row.

    Args:
        arm, point: where.
        first: the number of the first one.
        values: of each, by path.
        of: what they depend on, see `search_digest`.
    """

    arm: str
    point: Point
    first: int
    values: Sequence[Mapping[str, Any]]
    of: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the journal."""
        values = [dict(each) for each in self.values]
        return {"arm": self.arm, "point": dict(self.point), "first": self.first, "values": values, "of": self.of}


class KnownTrials:
    """Trials by arm and point: those written down as such; of journals from before, those whose results are there."""

    def __init__(self) -> None:
        self._written: dict[str, list[Trials]] = {}
        self._trained: dict[str, dict[int, tuple[Mapping[str, Any], str]]] = {}
        self._places: dict[tuple[str, str], str] = {}

    def add(self, trials: Trials) -> None:
        """Take trials that were written down."""
        self._written.setdefault(_place(trials.arm, trials.point), []).append(trials)

    def add_result(self, arm: str, point: Point, trial: int, config: Mapping[str, Any], key: str) -> None:
        """Take the configuration of a trial's result, as plain data, and its run key.

        Once trials are written down, those say all, and their results nothing more.
        """
        same = arm, repr(point)  # the results of a place are thousands
        place = self._places.get(same) or self._places.setdefault(same, _place(arm, point))
        if place not in self._written:
            self._trained.setdefault(place, {})[trial] = config, key

    def values_of(self, study: Study, arm: Arm, point: Point) -> dict[int, Values]:
        """The values that an arm has tried at a point, by the number of the trial."""
        found = dict(self._from_results(study, arm, point))
        written = self._written.get(_place(arm.name, point), ())
        digest = search_digest(study, arm) if written else ""
        for trials in written:
            if trials.of == digest:
                found |= {number: _typed(arm, each) for number, each in enumerate(trials.values, trials.first)}
        return found

    def _from_results(self, study: Study, arm: Arm, point: Point) -> Iterator[tuple[int, Values]]:
        """Those of which the study would make the same run, numbered without gaps: a trial that repeats another has no
        result of its own.
        """
        trained = self._trained.get(_place(arm.name, point), {})
        numbers = itertools.count()
        for trial, (config, key) in sorted(trained.items()):
            try:
                values, seed = {path: _at(config, path) for path in arm.searched}, config["seed"]
            except (KeyError, TypeError, IndexError):  # edited by hand: no run of the study
                continue
            inside = all(space.contains(values[path]) for path, space in arm.searched.items())
            if not inside and (trial, values) != (0, arm.default):
                continue
            plain = plain_config(study, arm, point, values, seed=seed, test=False)
            if complete_config(plain).key == key:
                yield next(numbers), values


def search_digest(study: Study, arm: Arm) -> str:
    """16 hexadecimal digits for all that an arm's suggestions depend on, but for results and how many there are."""
    assert study.search is not None
    searching = {name: each for name, each in study.search.protocol().items() if name not in ("race", "front")}
    fields = without_later({"data": study.data, "model": study.model, "training": study.training})
    spaces = {path: vars(space) for path, space in arm.searched.items()}
    parts = [arm.loss, arm.fixed, spaces, searching, fields]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=_plain).encode()).hexdigest()[:16]


def _place(arm: str, point: Point) -> str:
    return json.dumps([arm, dict(point)], sort_keys=True, default=_plain)


def _at(config: Mapping[str, Any], path: str) -> Any:
    value: Any = config
    for name in path.split("."):
        value = value[name]
    return value


def _typed(arm: Arm, values: Mapping[str, Any]) -> Values:
    """In the order of the arm, as values from JSON may have lost theirs."""
    return {path: values[path] for path in arm.searched}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)
