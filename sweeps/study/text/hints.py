"""What people write who mean another field: the rule for a field that there is none of says where it goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from setsweep.losses.values import nearest

_SEEDS = "A seed is not a parameter: confirm.seeds and search.seeds say how often a configuration is trained."
_PLACES = {
    "seed": _SEEDS,
    "seeds": _SEEDS,
    "num_seeds": _SEEDS,
    "trials": "It goes into search: search.trials.",
    "num_trials": "It goes into search: search.trials.",
    "sampler": "It goes into search: search.sampler.",
    "objective": "It goes into search: search.objective.",
    "metric": "search.objective is what is searched for, compare.metrics is what is compared.",
    "metrics": "search.objective is what is searched for, compare.metrics is what is compared.",
    "baseline": "It goes into compare: compare.baseline.",
    "gpus": "It goes into resources: resources.gpus.",
    "cpus": "It goes into resources: resources.cpus.",
    "loss": "Losses are the arms: arms.NAME.",
    "losses": "Losses are the arms: arms.NAME.",
    "name": "The name of the study is its field study.",
    "description": "What is asked is the field about.",
    "dataset": "The data set is data.name.",
}
_USUAL_NAMES = {
    "learning_rate": "optimizer.lr",
    "optimizer.learning_rate": "optimizer.lr",
    "decay": "optimizer.weight_decay",
    "wd": "optimizer.weight_decay",
    "num_epochs": "epochs",
    "max_epochs": "epochs",
    "n_epochs": "epochs",
    "batch": "batch_size",
    "bs": "batch_size",
    "early_stopping": "patience",
    "scheduler": "milestones",
    "lr_milestones": "milestones",
    "amp": "precision",
}


def unknown_field(kind: str, field: str, known: Iterable[str], *, training: Iterable[str] = ()) -> str:
    """The rule for a field that there is none of.

    Args:
        kind: what messages call it: "field", "setting", "grid field".
        field: as it was given.
        known: the legal ones.
        training: for a field of the study itself, the paths of settings of `training`, for which it may be meant.
    """
    names = sorted(known)
    return f"unknown {kind} {field!r}.{_hint(kind, field, names, list(training))} Known: {', '.join(names) or 'none'}."


def _hint(kind: str, field: str, names: Sequence[str], training: Sequence[str]) -> str:
    usual, last = _USUAL_NAMES.get(field, field), field.rpartition(".")[2]
    if usual != field and usual in names:
        return f" Did you mean {usual!r}?"
    inside = [path for path in training if path in (usual, f"optimizer.{usual}")]
    if inside:
        return f" It goes into training: training.{inside[0]}."
    if last in _PLACES and (training or last in ("seed", "seeds")):
        return f" {_PLACES[last]}"
    return nearest(field, names)
