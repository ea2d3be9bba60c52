"""RunConfig: all that decides the result of one training, and the key that names it.

Two configurations with equal keys give equal results, so a result found under its key is never computed again.
Where the data lies or which study asked for it decides nothing and is not in here; neither is the number of threads,
which changes nothing but the rounding of sums.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from setsweep.data.augment import Augmentation

RESULTS_VERSION = 3  # raised whenever a change makes the same configuration give another result

LATER_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "training.warmup_epochs": 0,
        "training.clip_norm": None,
        "training.ema": 0.0,
        "training.patience": None,
        "training.precision": "float32",
        "training.compile": False,
        "training.augment.pad_crop": 0,
        "training.augment.flip": False,
        "training.augment.cutout": 0,
        "training.augment.mixup": 0.0,
    }
)
"""Settings that came after the first results of this version, each with the value at which a run is what it was before.

There they are left out of run keys and protocols, so that the results of earlier studies stay valid.
"""


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """Which optimiser, and its numbers; those that it does not have stay at their defaults."""

    name: Literal["sgd", "adam", "adamw"] = "sgd"
    lr: float = 0.1
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.999)


@dataclass(frozen=True, kw_only=True)
class Training:
    """How one run trains.

    Args:
        epochs: passes over the training split.
        batch_size: examples per step, or "full": one batch is the whole split.
        optimizer: see `Optimizer`.
        milestones: epochs after which the learning rate is multiplied by `gamma`.
        keep: "best": for each metric the epoch that is best on validation; "last": the last epoch for all.
        evaluate_every: epochs between evaluations (the last epoch is always evaluated).
        threshold_scores: "softmax" or "sigmoid" for thresholding; None: as the loss declares.
        head: which head of a two-head model predicts: "ml" or "sccp"; ignored by models with one head.
        reference_batch_size: where set, the learning rate is `lr * batch_size / reference_batch_size`.
        device: "auto" (CUDA where there is one), "cpu" or "cuda".
        warmup_epochs: over the steps of the first epochs the learning rate rises linearly to its value, which it has
            in the last of these steps; milestones count from the start all the same.
        clip_norm: gradients of the model whose norm, over all weights together, is larger are scaled down to it.
        ema: decay of the moving average of the weights (see `trainables.learners.averaging`), which is what is
            evaluated and saved; 0: none.
        patience: training stops where this many evaluations in a row were best for no accuracy of any k; None: never.
        precision: "float32": exactly that; "tf32": on CUDA, factors of products rounded to 10 bits of mantissa, on a
            CPU float32; "bfloat16": the model computes in it where PyTorch's autocast deems it safe. Weights, their
            updates and the loss are float32 in all three.
        compile: whether training runs the model through `torch.compile`, on CUDA with CUDA graphs: worth its minutes
            for long runs. Evaluation does not, so that it gives what a predictor gives.
        augment: see `data.augment.Augmentation`.
    """

    epochs: int = 10
    batch_size: int | Literal["full"] = 128
    optimizer: Optimizer = field(default_factory=Optimizer)
    milestones: tuple[int, ...] = ()
    gamma: float = 0.1
    keep: Literal["best", "last"] = "best"
    evaluate_every: int = 1
    threshold_scores: Literal["softmax", "sigmoid"] | None = None
    head: Literal["ml", "sccp"] = "ml"
    reference_batch_size: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    warmup_epochs: int = 0
    clip_norm: float | None = None
    ema: float = 0.0
    patience: int | None = None
    precision: Literal["float32", "tf32", "bfloat16"] = "float32"
    compile: bool = False
    augment: Augmentation = field(default_factory=Augmentation)


SECTIONS: Mapping[str, type] = MappingProxyType({"optimizer": Optimizer, "augment": Augmentation})
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
    """

    data: Mapping[str, Any]
    model: Mapping[str, Any]
    loss: Mapping[str, Any]
    training: Training
    k: tuple[int, ...]
    seed: int
    test: bool = True

    @cached_property
    def key(self) -> str:
        """16 hexadecimal digits that name this run: a hash of the configuration and of the results version."""
        text = json.dumps([RESULTS_VERSION, without_later(self.to_dict())], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON or YAML."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self), default=dict))
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunConfig:
        """The inverse of `to_dict`; the values are taken as they are (`check_config` fills in and checks)."""
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
        )


def without_later(plain: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """A configuration, or parts of it, without those of `LATER_SETTINGS` that change nothing.

    Args:
        plain: nested plain data, its top names those of `RunConfig`.
        path: of `plain` in a configuration, with a dot at its end; empty at the top.
    """
    kept: dict[str, Any] = {}
    for name, value in plain.items():
        place = f"{path}{name}"
        if isinstance(value, Mapping):
            inner = without_later(value, f"{place}.")
            if inner or not value:
                kept[name] = inner
        elif place not in LATER_SETTINGS or value != LATER_SETTINGS[place]:
            kept[name] = value
    return kept


def _with_tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What one training gave.

    Args:
        key: the run key of its configuration.
        status: "done", "diverged" (a loss that is not finite) or "failed" (an error, a dead worker).
        reason: why, where the status is not "done".
        metrics: final values by record name ("val/top2_accuracy", "test/avg2_set_size", ...).
        best_epoch: for each accuracy's short name ("top2_accuracy") the epoch whose model it reports, from 1.
        epochs: the evaluated epochs, from 1.
        curves: for each per-epoch metric ("val/top2_accuracy", "train/loss") its values at `epochs`.
        thresholds: threshold of each k on the scores' probabilities.
        seconds: time spent in training and evaluation.
        started, finished: Unix times.
        attempts: how often the run was started until this result.
        host: where it ran.
        stopped: the epoch after which the training was given up for want of patience; None: it was not.
        runtime: what it ran on and with (see `trainables.device.runtime`); decides nothing, so two results that differ
            in it alone are equal.
    """

    key: str
    status: Literal["done", "diverged", "failed"]
    reason: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    best_epoch: Mapping[str, int] = field(default_factory=dict)
    epochs: tuple[int, ...] = ()
    curves: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    started: float = 0.0
    finished: float = 0.0
    attempts: int = 1
    host: str = ""
    stopped: int | None = None
    runtime: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunResult:
        """The inverse of `to_dict`."""
        curves = {name: tuple(values) for name, values in plain.get("curves", {}).items()}
        return cls(**{**plain, "epochs": tuple(plain.get("epochs", ())), "curves": curves})


def failed(config: RunConfig, reason: str, *, started: float, attempts: int) -> RunResult:
    """The result of a run that gave none."""
    return RunResult(
        key=config.key,
        status="failed",
        reason=reason,
        started=started,
        finished=time.time(),
        attempts=attempts,
        host=socket.gethostname(),
    )


@dataclass(frozen=True, kw_only=True)
class KeepModel:
    """Save the trained model for later prediction.

    Args:
        folder: receives ``model.pt``.
        criterion: whose best epoch's weights are saved, e.g. "avg2_accuracy".
    """

    folder: Path
    criterion: str
