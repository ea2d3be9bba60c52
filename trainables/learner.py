"""What learns: the model of a run, its loss and their optimisers, behind an interface that several seeds can share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from data.dataset import Dataset
from data.feeds import Batch
from data.seeding import derived_seed
from losses import LOSSES, build_loss
from trainables.models import build_model
from trainables.optimizers import Updates, build_loss_optimizer, build_optimizer
from trainables.run_config import RunConfig

Weights = dict[str, Tensor]


class Learner(Protocol):
    """One model a seed, trained in step. Lists have one entry a seed, in the order of the configurations."""

    def step(self, batches: Sequence[Batch], lr: float) -> Tensor:
        """Train each model on its batch; (seeds,) the batch losses before the step."""
        ...

    def scores(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """(batch, classes) scores of each model for its inputs, for evaluation; of the head that predicts."""
        ...

    def finite(self) -> list[bool]:
        """Whether all weights of each model are finite."""
        ...

    def weights(self, seed: int) -> Weights:
        """A copy of the weights and buffers of the model at this position."""
        ...

    def load_weights(self, weights: Sequence[Mapping[str, Tensor]]) -> None:
        """Put copies made by `weights` back, one for each model."""
        ...

    def state(self) -> dict[str, Any]:
        """All that the next steps depend on, for a checkpoint."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        ...


class SoloLearner:
    """The model of one seed by itself.

    Args:
        config: complete.
        dataset: its data.
        device: where it learns.
    """

    def __init__(self, config: RunConfig, dataset: Dataset, device: torch.device) -> None:
        self._config = config
        self._declaration = LOSSES[config.loss["name"]]
        self._model = build_model(
            config.model,
            head=self._declaration.head,
            input_shape=tuple(dataset.train.inputs.shape[1:]),
            num_classes=dataset.num_classes,
            seed=derived_seed(config.seed, "initialisation"),
        ).to(device)
        self._noise = torch.Generator(device).manual_seed(derived_seed(config.seed, "loss_noise"))
        self._loss = build_loss(
            config.loss["name"],
            num_classes=dataset.num_classes,
            class_counts=torch.bincount(dataset.train.labels, minlength=dataset.num_classes),
            num_examples=len(dataset.train),
            generator=self._noise,
            **{name: value for name, value in config.loss.items() if name != "name"},
        ).to(device)
        optimizer = config.training.optimizer
        self._optimizer = build_optimizer(self._model.parameters(), optimizer)
        self._loss_optimizer: Updates | None = None
        if list(self._loss.parameters()):
            self._loss_optimizer = build_loss_optimizer(self._loss.parameters(), optimizer)

    def step(self, batches: Sequence[Batch], lr: float) -> Tensor:
        """See `Learner`."""
        (batch,) = batches
        if not self._model.training:
            self._model.train()
        extra = {"indices": batch.indices} if self._declaration.needs_indices else {}
        loss = self._loss(self._model(batch.inputs), batch.labels, **extra).mean()
        loss.backward()
        self._optimizer.step(lr)
        if self._loss_optimizer is not None:
            self._loss_optimizer.step(lr * self._config.loss["label_lr_factor"])
        detached: Tensor = loss.detach().reshape(1)
        return detached

    def scores(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """See `Learner`."""
        if self._model.training:
            self._model.eval()
        scores = self._model(inputs[0])
        return [scores[0 if self._config.training.head == "ml" else 1] if isinstance(scores, tuple) else scores]

    def finite(self) -> list[bool]:
        """See `Learner`."""
        return [all(bool(weights.isfinite().all()) for weights in self._model.parameters())]

    def weights(self, seed: int) -> Weights:
        """See `Learner`."""
        assert seed == 0, "there is one model"
        return {name: value.clone() for name, value in self._model.state_dict().items()}

    def load_weights(self, weights: Sequence[Mapping[str, Tensor]]) -> None:
        """See `Learner`."""
        self._model.load_state_dict(weights[0])

    def state(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "model": self._model.state_dict(),
            "loss": self._loss.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "loss_optimizer": self._loss_optimizer and self._loss_optimizer.state_dict(),
            "noise": self._noise.get_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """See `Learner`."""
        for name, part in (("model", self._model), ("loss", self._loss), ("optimizer", self._optimizer)):
            part.load_state_dict(state[name])
        if self._loss_optimizer is not None:
            self._loss_optimizer.load_state_dict(state["loss_optimizer"])
        self._noise.set_state(state["noise"])
