"""One seed by itself: its model, its loss and their optimisers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import Batch
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.device import compiled
from setsweep.trainables.learners.averaging import MovingAverage
from setsweep.trainables.learners.initial import initial_loss, initial_model
from setsweep.trainables.learners.learner import Weights
from setsweep.trainables.learners.optimizers import Updates, build_loss_optimizer, build_optimizer
from setsweep.trainables.learners.scores import all_heads, compute_scores, of_predicting_head
from setsweep.trainables.models.heads import Scores

Network = Callable[[Tensor], Any]


class SoloLearner:
    """The model of one seed; see `trainables.learners.learner.Learner`.

    On CUDA, images and the weights of convolutions lie with the channels last, as its fast kernels want them.

    Args:
        config: complete.
        dataset: its data.
        device: where it learns.
    """

    def __init__(self, config: RunConfig, dataset: Dataset, device: torch.device) -> None:
        self._config, self._training, self._device = config, config.training, device
        self._declaration = loss_declaration(config.loss["name"])
        self._model = initial_model(config, dataset, device)
        if device.type == "cuda":
            self._model.to(memory_format=torch.channels_last)
        self._network = compiled(self._model, device) if self._training.compile else self._model
        self._average = MovingAverage(self._model, self._training.ema) if self._training.ema else None
        self._evaluated = self._average.model if self._average else self._model
        self._loss, self._noise = initial_loss(config, dataset, device)
        optimizer = self._training.optimizer
        self._optimizer = build_optimizer(self._model.parameters(), optimizer)
        self._loss_optimizer: Updates | None = None
        if list(self._loss.parameters()):
            self._loss_optimizer = build_loss_optimizer(
                self._loss.parameters(), optimizer, momentum=config.loss.get("label_momentum", 0.0)
            )

    def step(self, batches: Sequence[Batch], lr: float) -> Tensor:
        """See `Learner`."""
        (batch,) = batches
        if not self._model.training:
            self._model.train()
        extra = {"indices": batch.indices} if self._declaration.needs_indices else {}
        loss = self._loss(self._scores(self._network, batch.inputs), batch.labels, **extra).mean()
        loss.backward()
        if self._training.clip_norm is not None:
            nn.utils.clip_grad_norm_(self._model.parameters(), self._training.clip_norm)
        self._optimizer.step(lr)
        if self._loss_optimizer is not None:
            self._loss_optimizer.step(lr * self._config.loss["label_lr_factor"])
        if self._average is not None:
            self._average.follow()
        detached: Tensor = loss.detach().reshape(1)
        return detached

    def scores(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """See `Learner`."""
        if self._evaluated.training:
            self._evaluated.eval()
        return [of_predicting_head(self._scores(self._evaluated, inputs[0]), self._training)]

    def heads(self, inputs: Sequence[Tensor]) -> Sequence[tuple[Tensor, ...]]:
        """See `Learner`."""
        if self._evaluated.training:
            self._evaluated.eval()
        return [all_heads(self._scores(self._evaluated, inputs[0]))]

    def _scores(self, network: Network, inputs: Tensor) -> Scores:
        if self._device.type == "cuda" and inputs.dim() == 4:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        return compute_scores(network, inputs, self._training, self._device)

    def finite(self) -> list[bool]:
        """See `Learner`."""
        return [all(bool(weights.isfinite().all()) for weights in self._model.parameters())]

    def weights(self, seed: int) -> Weights:
        """See `Learner`."""
        assert seed == 0, "there is one model"
        return {name: value.to("cpu", copy=True) for name, value in self._evaluated.state_dict().items()}

    def load_weights(self, weights: Sequence[Mapping[str, Tensor]]) -> None:
        """See `Learner`."""
        self._evaluated.load_state_dict(weights[0])

    def state(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "model": self._model.state_dict(),
            "loss": self._loss.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "loss_optimizer": self._loss_optimizer and self._loss_optimizer.state_dict(),
            "average": self._average and self._average.state(),
            "noise": self._noise.get_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """See `Learner`."""
        for name, part in (("model", self._model), ("loss", self._loss), ("optimizer", self._optimizer)):
            part.load_state_dict(state[name])
        if self._loss_optimizer is not None:
            self._loss_optimizer.load_state_dict(state["loss_optimizer"])
        if self._average is not None:
            self._average.restore(state["average"])
        self._noise.set_state(state["noise"])
