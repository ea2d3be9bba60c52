"""RunConfig: all that decides the result of one training, and the key that names it.

Two configurations with equal keys give equal results, so a result found under its key is never computed again.
Where the data lies or which study asked for it decides nothing and is not in here; neither is the number of threads,
which changes nothing but the rounding of sums.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from setsweep.data.augmentation import Augmentation
from setsweep.trainables.config import sections
from setsweep.trainables.config.stopping import Stopping
from setsweep.trainables.conformal.how import CONFORMAL, Conformal
from setsweep.trainables.places import AnyPath
from setsweep.trainables.settings.rules import flag, listed, one_of, real, whole
from setsweep.trainables.settings.setting import Setting, declared, settings_of

RESULTS_VERSION = 3  # raised whenever a change makes the same configuration give another result


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """Which optimiser, and its numbers; those that it does not have stay at their defaults."""

    name: Literal["sgd", "adam", "adamw"] = declared(one_of("sgd", "adam", "adamw"), "sgd", "which optimiser")
    lr: float = declared(real(above=0), 0.1, "learning rate")
    momentum: float = declared(real(low=0, below=1), 0.0, "of sgd")
    nesterov: bool = declared(flag(), False, "Nesterov's form of momentum")
    weight_decay: float = declared(real(low=0), 0.0, "L2 penalty; of adamw decoupled")
    betas: tuple[float, float] = declared(
        listed(real(low=0, below=1), length=2), (0.9, 0.999), "decay of the moments of adam and adamw"
    )


@dataclass(frozen=True, kw_only=True)
class Training:
    """How one run trains; each field says what it does, and more where a line does not say it all.

    - `keep`: "best": for each metric the epoch that is best on validation; "last": the last epoch for all.
    - `reference_batch_size`: where set, the learning rate is ``lr * batch_size / reference_batch_size``.
    - `warmup_epochs`: the learning rate has its value in the last step of these epochs; milestones count from the start
      all the same.
    - `ema`: see `trainables.learners.averaging`; the average is what is evaluated and saved.
    - `precision`: "float32": exactly that; "tf32": on CUDA, factors of products rounded to 10 bits of mantissa, on a
      CPU float32; "bfloat16": the model computes in it where PyTorch's autocast deems it safe. Weights, their updates
      and the loss are float32 in all three.
    - `compile`: `torch.compile`, on CUDA with CUDA graphs: worth its minutes for long runs. Evaluation does not use it,
      so that it gives what a predictor gives.
    """

    epochs: int = declared(whole(1), 10, "passes over the training split", unit="epochs")
    batch_size: int | Literal["full"] = declared(
        whole(1, besides=("full",)), 128, "of a step; full: the whole split", unit="examples"
    )
    optimizer: Optimizer = field(default_factory=Optimizer)
    milestones: tuple[int, ...] = declared(
        listed(whole(1), ascending=True), (), "after which the learning rate is multiplied by gamma", unit="epochs"
    )
    gamma: float = declared(real(above=0, high=1), 0.1, "factor of the learning rate at a milestone")
    keep: Literal["best", "last"] = declared(one_of("best", "last"), "best", "the epoch whose numbers are reported")
    evaluate_every: int = declared(
        whole(1), 1, "from one evaluation to the next; the last is always one", unit="epochs"
    )
    threshold_scores: Literal["softmax", "sigmoid"] | None = declared(
        one_of(None, "softmax", "sigmoid"), None, "how scores meet thresholds; null: as the loss declares"
    )
    head: Literal["ml", "sccp"] = declared(one_of("ml", "sccp"), "ml", "which of two heads predicts")
    reference_batch_size: int | None = declared(
        whole(1, besides=(None,)),
        None,
        "for which the learning rate is meant; it grows with the batch",
        unit="examples",
    )
    device: Literal["auto", "cpu", "cuda"] = declared(
        one_of("auto", "cpu", "cuda"), "auto", "auto: CUDA where there is one"
    )
    warmup_epochs: int = declared(
        whole(0), 0, "over which the learning rate rises to its value, step by step", unit="epochs", later=True
    )
    clip_norm: float | None = declared(
        real(above=0, besides=(None,)), None, "largest norm of a step's gradient, over all weights together", later=True
    )
    ema: float = declared(real(low=0, below=1), 0.0, "decay of the moving average of the weights; 0: none", later=True)
    patience: int | None = declared(
        whole(1, besides=(None,)),
        None,
        "in a row that improve no accuracy, then it stops",
        unit="evaluations",
        later=True,
    )
    precision: Literal["float32", "tf32", "bfloat16"] = declared(
        one_of("float32", "tf32", "bfloat16"), "float32", "of the model's products", later=True
    )
    compile: bool = declared(flag(), False, "whether training runs the model through torch.compile", later=True)
    augment: Augmentation = field(default_factory=Augmentation)

    @cached_property
    def kept(self) -> Mapping[str, Any]:
        """What run keys know of it, as mappings: see `without_later`."""
        return _training_without_later(_plain(self) | {name: _plain(getattr(self, name)) for name in SECTIONS})


TRAINING: Mapping[str, Setting] = settings_of(Training)
"""Every setting of `training` by its dotted path."""

SECTIONS: Mapping[str, type] = {"optimizer": Optimizer, "augment": Augmentation}
"""The settings of `Training` that have settings of their own."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One training, wholly decided.

    Args:
        data, model, loss: a ``name`` and the settings that go with it, defaults filled in.
        training: see `Training`.
        k: the set sizes to report.
        seed: of initialisation, data order, noise, and of the data where it is drawn.
        test: whether the test split is looked at; a search never does.
        coverage: of the conformal sets to report on test, ascending; none: none are made.
        conformal: how those are made.
        stopping: when a run of a search gives up; None: it does not.
        metrics: of the user's own, ``package.module:function``, see `trainables.config.own_metrics`.
    """

    data: Mapping[str, Any]
    model: Mapping[str, Any]
    loss: Mapping[str, Any]
    training: Training
    k: tuple[int, ...]
    seed: int
    test: bool = True
    coverage: tuple[float, ...] = ()
    conformal: Conformal = field(default_factory=Conformal)
    metrics: tuple[str, ...] = ()
    stopping: Stopping | None = None

    @cached_property
    def key(self) -> str:
        """16 hexadecimal digits that name this run: a hash of the configuration, of the results version, and of the
        revision of its loss where that has one.
        """
        return hashlib.sha256(self._text.encode()).hexdigest()[:16]

    @cached_property
    def _text(self) -> str:
        revision = sections.revision(self.loss)
        plain = {name: _as_json(value) for name, value in self._asked().items() if name != "training"}
        kept = {**without_later(plain), "training": self.training.kept}
        parts = [RESULTS_VERSION, kept, *([revision] if revision else [])]
        return _text_of(parts)

    def with_seed(self, seed: int) -> RunConfig:
        """The same with another seed; a key of its own then costs next to nothing."""
        if seed == self.seed:
            return self
        before, after = (f'"seed":{each},"test":' for each in (self.seed, seed))
        return self._like(before, after, seed=seed)

    def with_loss(self, loss: Mapping[str, Any]) -> RunConfig:
        """The same with other hyperparameters of the same loss, complete; a key of its own then costs little."""
        return self._like(self._loss_text, _text_of_loss(loss), loss=loss)

    def with_training(self, training: Training) -> RunConfig:
        """The same with other settings of the training; a key of its own then costs little."""
        return self._like(self._training_text, _text_of_training(training), training=training)

    @cached_property
    def _training_text(self) -> str:
        return _text_of_training(self.training)

    @cached_property
    def _loss_text(self) -> str:
        return _text_of_loss(self.loss)

    def _like(self, before: str, after: str, **changed: Any) -> RunConfig:
        """With changes that put `after` in the place of `before` in the text that the key is of."""
        other = dataclasses.replace(self, **changed)
        if self._text.count(before) == 1:  # data of a user's own may have such fields, too
            other.__dict__["_text"] = self._text.replace(before, after)
        return other

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON or YAML; of conformal sets only where some are asked for."""
        plain: dict[str, Any] = _as_json(self._asked())
        return plain

    def _asked(self) -> dict[str, Any]:
        """Its fields, those that came later only where they are asked for."""
        later = {
            "coverage": self.coverage,
            "conformal": self.coverage,
            "metrics": self.metrics,
            "stopping": self.stopping,
        }
        return {name: value for name, value in _plain(self).items() if name not in later or later[name]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunConfig:
        """The inverse of `to_dict`; the values are taken as they are (`complete_config` fills in and checks)."""
        training = dict(plain.get("training", {}))
        sections = {name: kind(**_with_tuples(training.pop(name, {}))) for name, kind in SECTIONS.items()}
        return cls(
            data=dict(plain["data"]),
            model=dict(plain["model"]),
            loss=dict(plain["loss"]),
            training=Training(**_with_tuples(training), **sections),
            k=tuple(plain["k"]),
            seed=plain["seed"],
            test=plain.get("test", True),
            coverage=tuple(plain.get("coverage", ())),
            conformal=Conformal(**_with_tuples(plain.get("conformal", {}))),
            metrics=tuple(plain.get("metrics", ())),
            stopping=Stopping.from_dict(plain["stopping"]) if plain.get("stopping") else None,
        )


def without_later(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration, or parts of it, without the settings that came after the first results and change nothing.

    What is left out of run keys and protocols does not make earlier results another run's.

    Args:
        plain: nested plain data, its top names those of `RunConfig`.
    """
    kept = dict(plain)
    if "training" in plain:
        kept["training"] = _training_without_later(plain["training"])
    for section in sections.TABLES.keys() & plain.keys():
        kept[section] = sections.without_later(section, plain[section])
    if "conformal" in plain:
        given = _with_tuples(plain["conformal"])
        kept["conformal"] = {name: value for name, value in given.items() if value != CONFORMAL[name].default}
    return kept


def _training_without_later(plain: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in plain.items():
        setting = TRAINING.get(f"{path}{name}")
        if name in SECTIONS and not path:
            if inner := _training_without_later(value, f"{name}."):
                kept[name] = inner
        elif setting is None or not setting.later or value != setting.default:
            kept[name] = value
    return kept


def _text_of_loss(loss: Mapping[str, Any]) -> str:
    return f'"loss":{_text_of(sections.without_later("loss", loss))},'


def _text_of_training(training: Training) -> str:
    return f'"training":{_text_of(training.kept)}'


def _text_of(value: Any) -> str:
    return _TEXT.encode(value)


def _as_json(value: Any) -> Any:
    """What comes back when a value is written as JSON and read, without writing what is plain already."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) in (list, tuple):
        return [_as_json(each) for each in value]
    if dataclasses.is_dataclass(value):
        value = _plain(value)
    if type(value) is dict and all(type(name) is str for name in value):
        return {name: _as_json(each) for name, each in value.items()}
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: Any) -> dict[str, Any]:
    """What JSON has no form for: settings and mappings of another kind. (`dataclasses.asdict` would copy all first.)"""
    if dataclasses.is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    return dict(value)


_TEXT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_plain)


def _with_tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}


@dataclass(frozen=True, kw_only=True)
class KeepModel:
    """Save the trained model for later prediction.

    Args:
        folder: receives ``model.pt``.
        criterion: whose best epoch's weights are saved, e.g. "avg2_accuracy".
    """

    folder: AnyPath
    criterion: str
