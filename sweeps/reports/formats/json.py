"""A report as JSON, with everything. Values are in record units (0.93, not 93 %)."""

from __future__ import annotations

import dataclasses
from typing import Any

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.sweeps.reports.learning_rates import learning_rates
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.statistics.methods.pooled import PooledInterval
from setsweep.sweeps.statistics.over_images import OverImages
from setsweep.sweeps.statistics.searched import Searched
from setsweep.sweeps.study.text.json_text import json_text


def text(report: Report) -> str:
    """The study, its aggregates of both stages, comparisons, chosen configurations and failures; no NaN, but null."""
    study = report.study
    plain = {
        "study": study.name,
        "about": study.about,
        "complete": report.complete,
        "runs": dataclasses.asdict(report.counts),
        "unconfirmed": [{"arm": arm, "point": point} for arm, point in report.unconfirmed],
        "confidence": study.compare.confidence,
        "correction": study.compare.correction,
        "baseline": study.compare.baseline,
        "primary": study.primary,
        "search_seeds": study.search.seeds if study.search else [],
        "confirm_seeds": study.confirm_seeds,
        "aggregates": [_plain(each, "arm", "point", "params", "stage", "trial") for each in report.aggregates],
        "comparisons": [{"arm": each.arm, "point": each.point, **each.numbers} for each in report.comparisons],
        "chosen": [_plain(each, "arm", "point", "params") for each in report.chosen],
        "over_sets": [{**vars(each), "found": dataclasses.asdict(each.found)} for each in report.over_sets],
        "over_images": [_over_images(each) for each in report.over_images],
        "search_intervals": [_search_interval(*each) for each in report.search_intervals.items()],
        "unusual": [_plain(each, "arm", "point") for each in report.unusual],
        "saturated": [_plain(each, "arm", "point", "stage", "trial") for each in report.saturated],
        "spent": [dataclasses.asdict(each) for each in report.spent],
        "divergences": [dataclasses.asdict(each) for each in report.divergences],
        "published": [dataclasses.asdict(each) for each in report.published],
        "searches": [_search(each) for each in report.searches],
        "learning_rates": [
            dataclasses.asdict(each) for each in learning_rates(study, (each.candidate for each in report.chosen))
        ],
        "looks": [each.to_dict() for each in report.looks],
        "failures": [_plain(each, "arm", "point", "stage", "trial") for each in report.failures],
    }
    return json_text(plain)


def _search(entry: Searched) -> dict[str, Any]:
    """With the hyperparameters of each trial, and of each round who was dropped."""
    plain = dataclasses.asdict(dataclasses.replace(entry, trials={}))
    rounds = [{**dataclasses.asdict(each), "dropped": each.dropped} for each in entry.rounds]
    return plain | {
        "trials": {number: trial.params for number, trial in entry.trials.items()},
        "rounds": rounds,
        "mean": entry.mean,
        "runs_of_all_seeds": entry.runs_of_all_seeds,
    }


def _over_images(entry: OverImages) -> dict[str, Any]:
    by_seed = {seed: dataclasses.asdict(each) for seed, each in entry.by_seed.items()}
    crossed = None if entry.crossed is None else dataclasses.asdict(entry.crossed)
    return _plain(entry, "arm", "point") | {"crossed": crossed, "by_seed": by_seed}


def _search_interval(trial: Candidate, interval: PooledInterval) -> dict[str, Any]:
    return {**trial.plain(), **dataclasses.asdict(interval)}


def _plain(entry: OfCandidate, *first: str) -> dict[str, Any]:
    """Some fields of the entry's candidate, then its own."""
    own = {name: value for name, value in vars(entry).items() if name != "candidate"}
    return {name: getattr(entry, name) for name in first} | own
