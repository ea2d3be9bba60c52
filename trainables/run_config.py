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
from typing import Any, Literal

RESULTS_VERSION = 1  # raised whenever a change makes the same configuration give another result


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
        text = json.dumps([RESULTS_VERSION, self.to_dict()], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON or YAML."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self), default=dict))
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunConfig:
        """The inverse of `to_dict`; the values are taken as they are (`check_config` fills in and checks)."""
        training = dict(plain.get("training", {}))
        optimizer = dict(training.pop("optimizer", {}))
        if "betas" in optimizer:
            optimizer["betas"] = tuple(optimizer["betas"])
        if "milestones" in training:
            training["milestones"] = tuple(training["milestones"])
        return cls(
            data=dict(plain["data"]),
            model=dict(plain["model"]),
            loss=dict(plain["loss"]),
            training=Training(**training, optimizer=Optimizer(**optimizer)),
            k=tuple(plain["k"]),
            seed=plain["seed"],
            test=plain.get("test", True),
        )


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
