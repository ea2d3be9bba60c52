"""A seed group that learns as one stacked model, whose weights have a first axis of seeds.

Each seed has its own initialisation, data order, augmentation and noise, the same as if it learned alone, and its own
slice of every tensor: what becomes infinite there stays there. The terms of sums are those of `SoloLearner` in another
order, so that results agree to rounding: in float32 the weights after ten steps to 1e-4 of the largest of a layer. Two
things turn a rounding into more: a class that enters the top k or the candidates by it, and noise, of which the losses
that draw it draw as much as the scores call for.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from setsweep.data.dataset import Dataset
from setsweep.data.feeds import Batch
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.learners.averaging import MovingAverage
from setsweep.trainables.learners.initial import initial_loss, initial_model
from setsweep.trainables.learners.learner import Weights
from setsweep.trainables.learners.model_stack import StackedNetwork, stack_models
from setsweep.trainables.learners.optimizers import build_loss_optimizer, build_optimizer
from setsweep.trainables.learners.scores import all_heads, compute_scores, of_predicting_head
from setsweep.trainables.learners.seed_losses import SeedLosses
from setsweep.trainables.models.heads import Scores


class StackedLearner:
    """The models of a seed group as one; see `trainables.learners.learner.Learner`.

    Args:
        configs: complete, equal but for the seed.
        datasets: of each, of the same sizes.
        device: where they learn.
    """

    def __init__(self, configs: Sequence[RunConfig], datasets: Sequence[Dataset], device: torch.device) -> None:
        self._config, self._training, self._device = configs[0], configs[0].training, device
        pairs = list(zip(configs, datasets, strict=True))
        self._stack = stack_models([initial_model(*pair, device) for pair in pairs])
        self._network = StackedNetwork(self._stack)
        self._average = MovingAverage(self._stack, self._training.ema) if self._training.ema else None
        self._evaluated = self._average.model if self._average else self._stack
        self._evaluated_network = StackedNetwork(self._evaluated)
        losses, self._noise = zip(*(initial_loss(*pair, device) for pair in pairs), strict=True)
        self._losses = SeedLosses(losses, loss_declaration(self._config.loss["name"]))
        settings = self._training.optimizer
        self._optimizer = build_optimizer(self._stack.parameters(), settings)
        learning = [loss for loss in losses if list(loss.parameters())]
        momentum = self._config.loss.get("label_momentum", 0.0)
        self._loss_optimizers = [
            build_loss_optimizer(loss.parameters(), settings, momentum=momentum) for loss in learning
        ]
        self._last: tuple[tuple[Batch, ...], Tensor, Tensor] = (), torch.empty(0), torch.empty(0)

    def step(self, batches: Sequence[Batch], lr: float) -> Tensor:
        """See `Learner`."""
        if not self._stack.training:
            self._stack.train()
        inputs, labels = self._stacked(batches)
        scores = self._scores(self._network, inputs)
        losses: Tensor = self._losses(scores, labels, [batch.indices for batch in batches])
        torch.autograd.backward(losses.sum())
        if self._training.clip_norm is not None:
            clip_each(self._stack.parameters(), self._training.clip_norm)
        self._optimizer.step(lr)
        for optimizer in self._loss_optimizers:
            optimizer.step(lr * self._config.loss["label_lr_factor"])
        if self._average is not None:
            self._average.follow()
        return losses.detach()

    def scores(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """See `Learner`."""
        if self._evaluated.training:
            self._evaluated.eval()
        scores = self._scores(self._evaluated_network, self._evaluated_network.stack(inputs))
        return of_predicting_head(scores, self._training).unbind()

    def heads(self, inputs: Sequence[Tensor]) -> Sequence[tuple[Tensor, ...]]:
        """See `Learner`."""
        if self._evaluated.training:
            self._evaluated.eval()
        scores = self._scores(self._evaluated_network, self._evaluated_network.stack(inputs))
        return list(zip(*(head.unbind() for head in all_heads(scores)), strict=True))

    def _stacked(self, batches: Sequence[Batch]) -> tuple[Tensor, Tensor]:
        """Inputs and labels of all seeds. Full batches are the same at every step, and so is what is made of them."""
        if any(map(operator.is_not, batches, self._last[0])) or not self._last[0]:
            inputs = self._network.stack([batch.inputs for batch in batches])
            self._last = tuple(batches), inputs, torch.stack([batch.labels for batch in batches])
        return self._last[1:]

    def _scores(self, network: StackedNetwork, inputs: Tensor) -> Scores:
        return compute_scores(network, inputs, self._training, self._device)

    def finite(self) -> list[bool]:
        """See `Learner`."""
        of_layers = [weights.isfinite().flatten(1).all(1) for weights in self._stack.parameters()]
        finite: list[bool] = torch.stack(of_layers).all(0).tolist()
        return finite

    def weights(self, seed: int) -> Weights:
        """See `Learner`."""
        return {name: values[seed].to("cpu", copy=True) for name, values in self._evaluated.state_dict().items()}

    def load_weights(self, weights: Sequence[Mapping[str, Tensor]]) -> None:
        """See `Learner`."""
        names = self._evaluated.state_dict()
        self._evaluated.load_state_dict({name: torch.stack([each[name] for each in weights]) for name in names})

    def state(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "models": self._stack.state_dict(),
            "losses": self._losses.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "loss_optimizers": [optimizer.state_dict() for optimizer in self._loss_optimizers],
            "average": self._average and self._average.state(),
            "noise": [generator.get_state() for generator in self._noise],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """See `Learner`."""
        for name, part in (("models", self._stack), ("losses", self._losses), ("optimizer", self._optimizer)):
            part.load_state_dict(state[name])
        for optimizer, saved in zip(self._loss_optimizers, state["loss_optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        if self._average is not None:
            self._average.restore(state["average"])
        for generator, saved in zip(self._noise, state["noise"], strict=True):
            generator.set_state(saved)


@torch.no_grad()
def clip_each(parameters: Iterable[nn.Parameter], norm: float) -> None:
    """Scale the gradients of each seed so that their Euclidean norm, over all weights together, is at most `norm`.

    Args:
        parameters: each (seeds, ...), with gradients.
        norm: the largest that a seed's may be.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    squares = [gradient.flatten(1).square().sum(1) for gradient in gradients]
    factors = (norm / (torch.stack(squares).sum(0).sqrt() + 1e-6)).clamp(max=1.0)  # as nn.utils.clip_grad_norm_
    for gradient in gradients:
        gradient.mul_(factors.view(-1, *[1] * (gradient.dim() - 1)))
