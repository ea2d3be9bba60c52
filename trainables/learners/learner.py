"""What the training loop asks of whatever learns: one seed, or the seeds of a group together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor

from setsweep.data.feeds import Batch

Weights = dict[str, Tensor]


class Learner(Protocol):
    """One model a seed, trained in step. Lists have one entry a seed, in the order of the configurations."""

    def step(self, batches: Sequence[Batch], lr: float) -> Tensor:
        """Train each model on its batch; (seeds,) the batch losses before the step."""
        ...

    def scores(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """(batch, classes) scores of each model for its inputs, for evaluation; of the head that predicts."""
        ...

    def heads(self, inputs: Sequence[Tensor]) -> Sequence[tuple[Tensor, ...]]:
        """As `scores`, of every head of each model."""
        ...

    def finite(self) -> list[bool]:
        """Whether all weights of each model are finite."""
        ...

    def weights(self, seed: int) -> Weights:
        """A copy, in the main memory, of the weights and buffers that the model at this position is evaluated with."""
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
