"""Losses that see one positive label and no negatives: positive BCE, assume negative, expected positive regularisation.

Cole, Mac Aodha, Lorieul, Perona, Morris, Jojic: Multi-Label Learning from Single Positive Labels, 2021; as written in
Garcin et al. 2023 (two-head paper), equations 5 to 8. Good for: comparison with avgk on average-k sets. Cost: one
sigmoid of all scores or less.

Differs from the paper: nothing; other code scales assume negative and the regulariser by the number of classes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from setsweep.losses.checks import at_labels, check_batch, check_k
from setsweep.losses.declaration import Hyperparameter, LossDeclaration


def positive_bce(scores: Tensor, labels: Tensor) -> Tensor:
    """``-log sigmoid(score of the label)`` (two-head eq. 6); least where all classes are predicted.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.

    Returns:
        (batch,) values, NaN for a row with any NaN.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    scores = check_batch(scores, labels)
    values = -logsigmoid(at_labels(scores, labels))
    return torch.where(scores.detach().amax(1).isnan(), torch.nan, values)


def assume_negative(scores: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy with all classes but the label as negatives, of weight 1 / (classes - 1) (two-head eq. 5).

    Arguments, result and errors as for `positive_bce`.
    """
    scores = check_batch(scores, labels)
    positive = logsigmoid(at_labels(scores, labels))
    negatives = logsigmoid(-scores).scatter(1, labels.unsqueeze(1), 0.0).sum(1)
    return -positive - negatives / (scores.shape[1] - 1)


def epr(scores: Tensor, labels: Tensor, *, k: int, beta: float = 0.01, batches: int = 1) -> Tensor:
    """`positive_bce` with the mean set size drawn to k (two-head eq. 7 and 8).

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        k: expected number of positives, 1 to classes - 1.
        beta: weight of ``(mean over the batch of the sum of the sigmoids - k)^2``, which is added to every value.
        batches: how many batches of one size the rows are, one after another.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    scores = check_batch(scores, labels)
    check_k(k, scores.shape[1])
    size = len(scores) // batches
    expected = torch.stack([each.sum() for each in scores.sigmoid().chunk(batches)]) / size
    penalties = (beta * (expected - k) ** 2).repeat_interleave(size)
    return penalties - logsigmoid(at_labels(scores, labels))


class PositiveBCE(nn.Module):
    """`positive_bce` as a module."""

    def __init__(self, *, num_classes: int) -> None:
        super().__init__()

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `positive_bce`."""
        return positive_bce(scores, labels)


class AssumeNegative(PositiveBCE):
    """`assume_negative` as a module."""

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `assume_negative`."""
        return assume_negative(scores, labels)


class EPR(nn.Module):
    """`epr` as a module."""

    def __init__(self, *, num_classes: int, k: int, beta: float) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)
        self.beta = beta

    def forward(self, scores: Tensor, labels: Tensor, batches: int = 1) -> Tensor:
        """See `epr`."""
        return epr(scores, labels, k=self.k, beta=self.beta, batches=batches)


POSITIVE_BCE = LossDeclaration(
    name="positive_bce",
    module=PositiveBCE,
    paper="Cole et al. 2021; Garcin et al. 2023, eq. 6",
    about="What epr is without its regulariser; predicts every class.",
    probabilities="sigmoid",
)

ASSUME_NEGATIVE = LossDeclaration(
    name="assume_negative",
    module=AssumeNegative,
    paper="Cole et al. 2021; Garcin et al. 2023, eq. 5",
    about="Average-k sets where labels are hardly ambiguous; weak on rare classes.",
    probabilities="sigmoid",
)

EPR_DECLARATION = LossDeclaration(
    name="epr",
    module=EPR,
    paper="Cole et al. 2021; Garcin et al. 2023, eq. 8",
    about="Average-k sets with the mean size in the loss; may spread its probability thinly.",
    hyperparameters={
        "beta": Hyperparameter(
            default=0.01, low=0.0, search={"log_uniform": (1e-4, 1.0)}, about="weight of the mean set size"
        )
    },
    probabilities="sigmoid",
    needs_k=True,
    takes_batches=True,
)
