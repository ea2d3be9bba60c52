"""Optimisers and learning-rate schedules of a run.

These are PyTorch's own update rules (the functions behind ``torch.optim``), called without the ``Optimizer`` class
around them: the first object of that class in a process imports the compiler, which costs every worker about a second,
and each of its steps costs a small model a tenth of its time. The numbers are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.optim._functional import sparse_adam
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from setsweep.trainables.config.run_config import Optimizer, Training


class Updates(Protocol):
    """Applies gradients to parameters."""

    def step(self, lr: float) -> None:
        """Update every parameter that has a gradient, then drop the gradients."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What the next steps depend on, for a checkpoint."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state_dict`."""
        ...


class Sgd:
    """Stochastic gradient descent, with momentum where it is set (``torch.optim.SGD``)."""

    def __init__(self, parameters: Iterable[nn.Parameter], settings: Optimizer) -> None:
        self._parameters, self._settings = list(parameters), settings
        self._momentum: list[Tensor | None] = [None] * len(self._parameters)

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """See `Updates`."""
        settings = self._settings
        sgd(
            list(self._parameters),
            _take_gradients(self._parameters),
            self._momentum,
            weight_decay=settings.weight_decay,
            momentum=settings.momentum,
            lr=lr,
            dampening=0.0,
            nesterov=settings.nesterov,
            maximize=False,
        )

    def state_dict(self) -> dict[str, Any]:
        """See `Updates`."""
        return {"momentum": self._momentum}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Updates`; after the state of a `SparseSgd` it starts from rest."""
        self._momentum = _on_devices(state.get("momentum", self._momentum), self._parameters)


class SparseSgd:
    """Gradient descent with momentum for parameters of which each step touches some rows alone.

    A row moves in the steps that have a gradient for it, along a velocity that is kept from one of these to the next.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, momentum: float, nesterov: bool) -> None:
        self._parameters, self._momentum, self._nesterov = list(parameters), momentum, nesterov
        self._velocity = [torch.zeros_like(parameter) for parameter in self._parameters]

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """See `Updates`."""
        gradients = _take_gradients(self._parameters)
        for parameter, velocity, gradient in zip(self._parameters, self._velocity, gradients, strict=True):
            sparse = gradient.coalesce()
            (rows,), slope = sparse.indices(), sparse.values()
            faster = velocity[rows].mul_(self._momentum).add_(slope)
            velocity[rows] = faster
            parameter.index_add_(
                0, rows, slope.add(faster, alpha=self._momentum) if self._nesterov else faster, alpha=-lr
            )

    def state_dict(self) -> dict[str, Any]:
        """See `Updates`."""
        return {"velocity": self._velocity}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Updates`; after the state of an `Sgd` it starts from rest."""
        self._velocity = _on_devices(state.get("velocity", self._velocity), self._parameters)


class _WithMoments:
    """What the two kinds of Adam have in common: for each parameter two moments of its gradients and its steps."""

    def __init__(self, parameters: Iterable[nn.Parameter], settings: Optimizer, *, no_steps: Callable[[], Any]) -> None:
        self._parameters, self._settings = list(parameters), settings
        self._mean = [torch.zeros_like(parameter) for parameter in self._parameters]
        self._square = [torch.zeros_like(parameter) for parameter in self._parameters]
        self._steps = [no_steps() for _ in self._parameters]

    def state_dict(self) -> dict[str, Any]:
        """See `Updates`."""
        return {"mean": self._mean, "square": self._square, "steps": self._steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Updates`."""
        self._mean, self._square = (_on_devices(state[name], self._parameters) for name in ("mean", "square"))
        self._steps = list(state["steps"])


class Adam(_WithMoments):
    """Adam, or AdamW with its decoupled weight decay (``torch.optim.Adam``, ``torch.optim.AdamW``)."""

    def __init__(self, parameters: Iterable[nn.Parameter], settings: Optimizer) -> None:
        super().__init__(parameters, settings, no_steps=lambda: torch.tensor(0.0))

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """See `Updates`."""
        settings = self._settings
        adam(
            list(self._parameters),
            _take_gradients(self._parameters),
            self._mean,
            self._square,
            [],
            self._steps,
            decoupled_weight_decay=settings.name == "adamw",
            amsgrad=False,
            beta1=settings.betas[0],
            beta2=settings.betas[1],
            lr=lr,
            weight_decay=settings.weight_decay,
            eps=1e-8,
            maximize=False,
        )


class SparseAdam(_WithMoments):
    """Adam for parameters of which each step touches some rows alone (``torch.optim.SparseAdam``)."""

    def __init__(self, parameters: Iterable[nn.Parameter], settings: Optimizer) -> None:
        super().__init__(parameters, settings, no_steps=int)

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """See `Updates`."""
        self._steps = [steps + 1 for steps in self._steps]
        sparse_adam(
            list(self._parameters),
            _take_gradients(self._parameters),
            self._mean,
            self._square,
            self._steps,
            beta1=self._settings.betas[0],
            beta2=self._settings.betas[1],
            lr=lr,
            eps=1e-8,
            maximize=False,
        )


def build_optimizer(parameters: Iterable[nn.Parameter], settings: Optimizer) -> Updates:
    """The optimiser that the settings name, for parameters that all get a gradient in every step."""
    return Sgd(parameters, settings) if settings.name == "sgd" else Adam(parameters, settings)


def build_loss_optimizer(parameters: Iterable[nn.Parameter], settings: Optimizer, *, momentum: float = 0.0) -> Updates:
    """The optimiser of a loss's own parameters, whose gradients are sparse: without the model's momentum and decay.

    Both would move the rows that a step leaves out.

    Args:
        parameters: of the loss.
        settings: of the model's optimiser.
        momentum: of these parameters, where the model's optimiser is sgd.
    """
    if momentum and settings.name == "sgd":
        return SparseSgd(parameters, momentum=momentum, nesterov=settings.nesterov)
    plain = replace(settings, momentum=0.0, nesterov=False, weight_decay=0.0)
    return Sgd(parameters, plain) if settings.name == "sgd" else SparseAdam(parameters, plain)


def learning_rate(training: Training, *, epoch: int, batch_size: int, step: int = 0, steps: int = 1) -> float:
    """The learning rate of a step: times `gamma` after each milestone, scaled where a reference batch size is set.

    Within the warm-up it is the share of that which the steps done, this one included, are of all of its steps.

    Args:
        training: see `Training`.
        epoch: finished epochs, from 0.
        batch_size: examples per step, as a number.
        step: finished steps of the epoch, from 0.
        steps: of an epoch.
    """
    lr = training.optimizer.lr
    if training.reference_batch_size is not None:
        lr *= batch_size / training.reference_batch_size
    for milestone in training.milestones:
        if epoch >= milestone:
            lr *= training.gamma
    if epoch < training.warmup_epochs:
        lr *= (epoch * steps + step + 1) / (training.warmup_epochs * steps)
    return lr


def _on_devices(tensors: Iterable[Tensor | None], parameters: Iterable[nn.Parameter]) -> list[Any]:
    """Each tensor, where there is one, on the device of its parameter."""
    pairs = zip(tensors, parameters, strict=True)
    return [None if tensor is None else tensor.to(parameter.device) for tensor, parameter in pairs]


def _take_gradients(parameters: Iterable[nn.Parameter]) -> list[Tensor]:
    gradients = []
    for parameter in parameters:
        assert parameter.grad is not None, "every parameter of a model gets a gradient"
        gradients.append(parameter.grad)
        parameter.grad = None
    return gradients
