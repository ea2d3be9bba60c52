"""The losses of a seed group on the scores of its stacked models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from setsweep.losses.declaration import LossDeclaration
from setsweep.trainables.models.heads import Scores


class SeedLosses(nn.ModuleList):
    """The loss of each seed. They are computed together where they have no state that tells them apart.

    Args:
        losses: of each seed.
        declaration: of the loss.
    """

    def __init__(self, losses: Sequence[nn.Module], declaration: LossDeclaration) -> None:
        super().__init__(losses)
        self._declaration = declaration
        own_state = declaration.needs_indices or declaration.needs_generator or declaration.apart
        self._together = not own_state and all(_same_buffers(losses[0], loss) for loss in losses)

    def forward(self, scores: Scores, labels: Tensor, indices: Sequence[Tensor]) -> Tensor:
        """The mean loss of each seed.

        Args:
            scores: (seeds, batch, classes), or a pair of them.
            labels: (seeds, batch), or (seeds, batch, classes).
            indices: of each seed (batch,), which training examples these are.

        Returns:
            (seeds,).
        """
        if not self._together:
            return torch.stack(
                [self._mean(*each) for each in zip(self, _of_seeds(scores), labels, indices, strict=True)]
            )
        rows = tuple(map(_as_rows, scores)) if isinstance(scores, tuple) else _as_rows(scores)
        extra = {"batches": len(labels)} if self._declaration.takes_batches else {}
        values: Tensor = self[0](rows, labels.flatten(0, 1), **extra)
        return values.view(len(labels), -1).mean(1)

    def _mean(self, loss: nn.Module, scores: Scores, labels: Tensor, indices: Tensor) -> Tensor:
        extra = {"indices": indices} if self._declaration.needs_indices else {}
        mean: Tensor = loss(scores, labels, **extra).mean()
        return mean


def _same_buffers(one: nn.Module, other: nn.Module) -> bool:
    return all(map(torch.equal, one.buffers(), other.buffers()))


def _of_seeds(scores: Scores) -> Iterator[Scores]:
    if not isinstance(scores, tuple):
        return iter(scores.unbind())
    ml, sccp = scores
    return zip(ml.unbind(), sccp.unbind(), strict=True)


def _as_rows(scores: Tensor) -> Tensor:
    """Scores (seeds, batch, classes) as (seeds x batch, classes), those of a class together if they were so before."""
    if scores.stride(1) < scores.stride(2):
        return scores.permute(2, 0, 1).flatten(1).t()
    return scores.flatten(0, 1)
