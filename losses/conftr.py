"""ConfTr: conformal prediction simulated in every batch, and its sets made small.

Stutz, Dvijotham, Cemgil, Doucet: Learning Optimal Conformal Classifiers, ICLR 2022. The first half of the batch
calibrates: the threshold is the smooth alpha-quantile of the labels' log-probabilities. In the other half a class is in
the set of its example to the degree ``C = sigmoid((log-probability - threshold) / temperature)``, and the loss is
``log(mean of L + weight * mean of Omega)`` with the classification loss ``L = 1 - C[label]`` (their loss matrix being
the identity) and the size loss ``Omega = max(0, sum of C - kappa)``. Good for: small conformal sets; as published,
after training by cross-entropy. Cost: cross-entropy and a sigmoid. Wants large batches: a quantile of alpha = 0.01 is
hardly seen in 64 examples. After training the sets are calibrated anew, on data of their own.

The value depends on the batch and is the same for all its examples; of an odd batch the larger part predicts, and a
batch of one example calibrates on itself. It may be negative.

Differs from the paper: the published code sorts by a network with soft swaps, whose result depends on the order of the
batch; ours takes the rows of SoftSort for the two order statistics around the quantile, and their mean, as there. Both
tend to the same quantile as `dispersion` tends to 0. As in that code, 1e-8 is added in the logarithm, scores are
log-probabilities (THRLP) and the quantile's level is alpha (1 + 1/n). Defaults are its own; its runs on CIFAR-100, of
the last layer alone, have a weight of 0.01.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch
from setsweep.losses.cross_entropy import log_softmax
from setsweep.losses.declaration import Hyperparameter, LossDeclaration

FLOOR = 1e-8


def conftr(
    scores: Tensor,
    labels: Tensor,
    *,
    alpha: float = 0.01,
    temperature: float = 1.0,
    weight: float = 1.0,
    kappa: float = 1.0,
    dispersion: float = 0.1,
    batches: int = 1,
) -> Tensor:
    """The logarithm of classification loss plus weighted size loss of smooth conformal sets; see above.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        alpha: share of the labels that the sets may miss.
        temperature: of the sets' edge, in log-probabilities.
        weight: of the size loss.
        kappa: size of a set that costs nothing.
        dispersion: of the smooth quantile, in log-probabilities.
        batches: how many batches of one size the rows are, one after another, each with its own threshold.

    Returns:
        (batch,) values, each that of its whole batch.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    scores = check_batch(scores, labels)
    size = len(scores) // batches
    half = size // 2
    log_probabilities = log_softmax(scores)
    own = at_labels(log_probabilities, labels).view(batches, size)
    threshold = smooth_quantile(own[:, : max(half, 1)], alpha, dispersion=dispersion).unsqueeze(1)
    predicted = torch.unflatten(log_probabilities, 0, (batches, size))[:, half:]
    sets = ((predicted - threshold.unsqueeze(2)) / temperature).sigmoid()
    missed = ((threshold - own[:, half:]) / temperature).sigmoid()
    excess = (sets.sum(2) - kappa).relu()
    values = ((missed + weight * excess).mean(1) + FLOOR).log()
    return values.repeat_interleave(size)


def smooth_quantile(values: Tensor, level: float, *, dispersion: float) -> Tensor:
    """The conformal quantile of each row, smoothed by SoftSort (Prillo and Eisenschlos, ICML 2020).

    Of n values it is the mean of the order statistics just below and just above place ``level (1 + 1/n) (n - 1)``,
    counted from 0. The smoothed order statistic x is the mean of all values v with weights in proportion to
    ``exp(-|v - x| / dispersion)``.

    Args:
        values: (rows, n).
        level: 0..1.
        dispersion: in units of the values.

    Returns:
        (rows,).
    """
    count = values.shape[1]
    place = min(level * (1 + 1 / count), 1.0) * (count - 1)
    below, above = math.floor(place), math.ceil(place)
    lowest = values.topk(above + 1, largest=False).values
    targets = torch.stack([lowest[:, below], lowest[:, above]], 1)
    distances = (targets.unsqueeze(2) - values.unsqueeze(1)).abs()
    return ((-distances / dispersion).softmax(2) * values.unsqueeze(1)).sum(2).mean(1)


class ConfTr(nn.Module):
    """`conftr` as a module."""

    def __init__(
        self, *, num_classes: int, alpha: float, temperature: float, weight: float, kappa: float, dispersion: float
    ) -> None:
        super().__init__()
        self.alpha = alpha
        self.temperature = temperature
        self.weight = weight
        self.kappa = kappa
        self.dispersion = dispersion

    def forward(self, scores: Tensor, labels: Tensor, batches: int = 1) -> Tensor:
        """See `conftr`."""
        return conftr(
            scores,
            labels,
            alpha=self.alpha,
            temperature=self.temperature,
            weight=self.weight,
            kappa=self.kappa,
            dispersion=self.dispersion,
            batches=batches,
        )


DECLARATION = LossDeclaration(
    name="conftr",
    module=ConfTr,
    paper="Stutz et al. 2022",
    about="Small conformal sets at a target coverage; wants large batches and a trained start.",
    hyperparameters={
        "alpha": Hyperparameter(
            default=0.01,
            above=0.0,
            high=1.0,
            search={"log_uniform": (0.005, 0.2)},
            about="share of labels that the sets may miss",
        ),
        "temperature": Hyperparameter(
            default=1.0,
            above=0.0,
            search={"log_uniform": (0.1, 10.0)},
            unit="log-probabilities",
            about="of the sets' edge",
        ),
        "weight": Hyperparameter(
            default=1.0, low=0.0, search={"log_uniform": (1e-2, 10.0)}, about="of the size against missed labels"
        ),
        "kappa": Hyperparameter(default=1.0, low=0.0, unit="classes", about="size of a set that costs nothing"),
        "dispersion": Hyperparameter(default=0.1, above=0.0, unit="log-probabilities", about="of the smooth quantile"),
    },
    takes_batches=True,
)
