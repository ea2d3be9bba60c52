"""The parameters of a run in MLflow: its hyperparameters and grid point under their own names, then the rest of its
configuration by path, as far as it is not at its default.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_config import TRAINING, RunConfig
from setsweep.trainables.conformal.how import CONFORMAL

ALWAYS = ("epochs", "batch_size", "optimizer.name", "optimizer.lr")  # of the training, at their defaults as well


def params(planned: PlannedRun) -> dict[str, str]:
    """What the seeds of a configuration have in common."""
    own = {**planned.params, **planned.point}
    trial = {} if planned.trial is None else {"trial": planned.trial}
    rest = dict(_settings(planned.config))
    return {name: text(value) for name, value in {**rest, **own, **trial}.items()}


def run_params(common: Mapping[str, str], planned: PlannedRun) -> dict[str, str]:
    """Those of a run: what it has in common with other seeds, see `params`, and its seed."""
    return {**common, "seed": str(planned.seed)}


def study_params(study: Study) -> dict[str, str]:
    """What all runs of a study have in common, and how they are compared."""
    seeds = {"confirm.seeds": study.confirm_seeds, **({"search.seeds": study.search.seeds} if study.search else {})}
    plain = {
        **_flat("data", study.data),
        **_flat("model", study.model),
        **_flat("training", study.training),
        "k": study.k,
        "arms": list(study.arms),
        **seeds,
        **({"search.trials": study.search.trials, "search.objective": study.search.objective} if study.search else {}),
        "baseline": study.compare.baseline or "none",
        "confidence": study.compare.confidence,
        "correction": study.compare.correction,
    }
    return {name: text(value)[:6000] for name, value in plain.items()}


def dataset(planned: PlannedRun) -> tuple[str, str, str]:
    """The data of a run as MLflow has data sets: name, digest, and the settings as JSON.

    The digest is of what decides the data, not of their bytes, which the process that records never reads.
    """
    settings = json.dumps(planned.config.data, sort_keys=True, default=dict)
    point = [f"{path.rpartition('.')[2]}={short(v)}" for path, v in planned.point.items() if path.startswith("data.")]
    name = " ".join([planned.config.data["name"], *point])
    return name, hashlib.sha256(settings.encode()).hexdigest()[:8], settings


def text(value: Any) -> str:
    """A value as MLflow shows it."""
    return value if isinstance(value, str) else json.dumps(value, default=dict)


def short(value: Any) -> str:
    """A value as a name has it: 90.0 is "90"."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _settings(config: RunConfig) -> Iterator[tuple[str, Any]]:
    yield from _flat("data", config.data).items()
    yield from _flat("model", config.model).items()
    yield "loss", config.loss["name"]
    yield "set_sizes", config.k
    if config.coverage:
        yield "coverage", config.coverage
        changed = {name: getattr(config.conformal, name) for name in CONFORMAL}
        yield from ((f"conformal.{name}", value) for name, value in changed.items() if value != CONFORMAL[name].default)
    given = _flat("", config.to_dict()["training"])
    for path, value in given.items():
        if path in ALWAYS or path not in TRAINING or value != _plain(TRAINING[path].default):
            yield f"training.{path}", value
    lr, reference = config.training.optimizer.lr, config.training.reference_batch_size
    if reference is None or config.training.batch_size != "full":
        factor = 1 if reference is None else int(config.training.batch_size) / reference
        yield "lr", lr * factor  # as the first steps use it


def _flat(section: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values by their dotted paths; a value of None says nothing."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        path = f"{section}.{name}" if section else name
        if isinstance(value, Mapping):
            found |= _flat(path, value)
        elif value is not None:
            found[path] = value
    return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
