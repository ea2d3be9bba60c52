"""The sensitivity of a study as plain data, for JSON and CSV. Values are in record units (0.93, not 93 %)."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from setsweep.sweeps.reports.sensitivity.found import Findings, OneHyperparameter
from setsweep.sweeps.reports.sensitivity.sections import blocks
from setsweep.sweeps.reports.sensitivity.sensitivity import Sensitivity
from setsweep.sweeps.statistics.methods.intervals import mean_interval
from setsweep.sweeps.study.text import json_text as text


def json_text(found: Sensitivity) -> str:
    """Everything that is known, and the sentences; no NaN, but null."""
    own = found.study.sensitivity
    plain = {
        "study": found.study.name,
        "about": found.study.about,
        "metric": found.metric,
        "confidence": found.study.compare.confidence,
        "seeds": own.seeds if own else [],
        "at": own.at if own else None,
        "waiting": found.waiting,
        "designs": [_findings(each) for each in found.designs],
        "on_validation": [_findings(each) for each in found.on_validation],
        "searches": [_findings(each) for each in found.searches],
        "everywhere": [
            {
                "arm": each.tried[0].arm,
                "places": [{"point": dict(one.point), "metric": one.metric} for one in each.tried],
                "configurations": each.tried[0].configurations,
                **dataclasses.asdict(each.everywhere),
            }
            for each in found.over_points
        ],
        "tuning": [dataclasses.asdict(each) for each in found.tunings],
        "sentences": [each for each in blocks(found) if isinstance(each, str)],
    }
    return text.json_text(_plain(plain))


def csv_text(found: Sensitivity) -> str:
    """A row a configuration: its values, mean and interval, n, failures, scores by seed, and whether it is as good."""
    rows = [row for each in (*found.designs, *found.searches) for row in _csv_rows(found, each)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    begin = [name for name in names if name in ("arm", "designed") or name.startswith("point.")]
    params = [name for name in names if name.startswith("params.")]
    columns = [*begin, *params, *(name for name in names if name not in (*begin, *params))]
    lines = io.StringIO()
    writer = csv.DictWriter(lines, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return lines.getvalue()


def _csv_rows(found: Sensitivity, each: Findings) -> Iterator[dict[str, Any]]:
    tried = each.tried
    for index, own in enumerate(tried.configurations):
        scores = tried.scores[index]
        interval = mean_interval(scores[np.isfinite(scores)].tolist(), confidence=found.study.compare.confidence)
        known = {seed: float(value) for seed, value in zip(tried.seeds, scores, strict=True) if np.isfinite(value)}
        yield {
            "arm": tried.arm,
            "designed": tried.designed,
            **{f"point.{path}": value for path, value in tried.point.items()},
            **{f"params.{name}": value for name, value in own.items()},
            "metric": tried.metric,
            "mean": interval.mean,
            "ci_low": interval.ci_low,
            "ci_high": interval.ci_high,
            "n": interval.n,
            "failed": int(np.nansum(tried.failed[index])),
            **_bands(each, index),
            "values": json.dumps(known),
        }


def _bands(each: Findings, index: int) -> dict[str, Any]:
    """Of one hyperparameter its bands and plateau; of two whether a combination can't be told from the best."""
    if each.equal is not None:
        return {"as_good_as_best": each.equal[0][index]}
    (one,) = each.along if len(each.along) == 1 else (None,)
    if one is None or one.curve is None:
        return {}
    place = one.dimension.values.index(each.tried.configurations[index][one.dimension.name])
    bands = {
        f"{name}_{end}": getattr(getattr(one.curve, name), end)[place]
        for name in ("whole", "shape")
        for end in ("low", "high")
    }
    return {**bands, "as_good_as_best": None if one.plateau is None else one.plateau.members[place]}


def _findings(each: Findings) -> dict[str, Any]:
    tried = each.tried
    return {
        "arm": tried.arm,
        "point": dict(tried.point),
        "metric": tried.metric,
        "designed": tried.designed,
        "seeds": tried.seeds,
        "configurations": [
            {"params": dict(own), "values": scores, "failed": failed}
            for own, scores, failed in zip(
                tried.configurations, tried.scores.tolist(), tried.failed.tolist(), strict=True
            )
        ],
        "hyperparameters": [_along(one) for one in each.along],
        "as_good_as_best": None if each.equal is None else each.equal[0],
        "shares": None if each.shares is None else dataclasses.asdict(each.shares),
        "no_shares": each.no_shares,
        "top_shares": None if each.top is None else dataclasses.asdict(each.top),
        "advice": None if each.advice is None else dataclasses.asdict(each.advice),
    }


def _along(one: OneHyperparameter) -> dict[str, Any]:
    plain = dataclasses.asdict(one)
    dimension = plain.pop("dimension")
    scale = dimension.pop("scale")
    return {**dimension, "scale": scale["kind"], **plain}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
