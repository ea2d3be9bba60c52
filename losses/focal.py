"""Focal loss: cross-entropy that turns away from examples already classified well.

Lin, Goyal, Girshick, He, Dollar: Focal Loss for Dense Object Detection, 2017. Good for: imbalanced data. Cost:
cross-entropy.

Differs from the paper: the probability is that of a softmax over the classes, as in Table 1 of the noised paper, not of
a sigmoid for each; no class has a weight of its own. Table 1 misprints the loss and swaps its reference with LDAM's.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch
from setsweep.losses.cross_entropy import log_softmax
from setsweep.losses.declaration import Hyperparameter, LossDeclaration


def focal(scores: Tensor, labels: Tensor, *, gamma: float = 2.0) -> Tensor:
    """``(1 - p)^gamma * -log p`` with p the softmax probability of the label.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        gamma: how fast well classified examples lose weight; 0 gives cross-entropy.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    log_probability = at_labels(log_softmax(check_batch(scores, labels)), labels)
    # Where p rounds to 1 the power's slope would be infinite for gamma < 1; the true gradient of the product is 0.
    doubt = (-log_probability.expm1()).clamp_min(torch.finfo(log_probability.dtype).tiny)
    return -(doubt**gamma) * log_probability


class Focal(nn.Module):
    """`focal` as a module."""

    def __init__(self, *, num_classes: int, gamma: float) -> None:
        super().__init__()
        self.gamma = gamma

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `focal`."""
        return focal(scores, labels, gamma=self.gamma)


DECLARATION = LossDeclaration(
    name="focal",
    module=Focal,
    paper="Lin et al. 2017",
    about="Imbalanced data; puts the weight on hard examples.",
    hyperparameters={
        "gamma": Hyperparameter(
            default=2.0, low=0.0, search={"uniform": (0.5, 5.0)}, about="how fast easy examples lose weight"
        )
    },
)
