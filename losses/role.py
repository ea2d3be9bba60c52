"""ROLE: regularised online estimation of the labels that were not observed.

Cole, Mac Aodha, Lorieul, Perona, Morris, Jojic: Multi-Label Learning from Single Positive Labels, 2021; described in
Garcin et al. 2023 (two-head paper), section 4.6. Good for: comparison with avgk on average-k sets of small data sets.
Cost: a few passes over the scores, and the estimates: 4 bytes x training examples x classes (1 GB for 244,000 x 1,081),
plus what their optimiser keeps. A step reads and writes the rows of its batch alone: their gradient is sparse, which
plain torch.optim.SGD and SparseAdam take.

Differs from the paper: logarithms are exact, not of x + 1e-5; `lam` weighs the terms on the expected number of
positives (0 leaves them out). An example's own label starts at 0.995, as in the published code, when the example is
first seen.

What the papers leave open is how the estimates learn. The two-head paper has "learning rate x 1.0" alone; the published
code gives them a parameter group of the classifier's optimiser, so that with momentum all estimates move in every step.
Here those of an example move in the steps that see it: by plain gradient descent, or with `label_momentum` along a
velocity of their own, which is kept from one such step to the next and costs the estimates' memory again; where the
classifier has Adam, by Adam's rule for the rows that a step sees.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, embedding, logsigmoid

from setsweep.losses.checks import at_labels, check_batch, check_k, check_range
from setsweep.losses.declaration import Hyperparameter, LossDeclaration

LABEL_START = math.log(0.995 / 0.005)
OTHERS_START = math.log(0.6 / 0.4)  # estimates of the others start between 0.4 and 0.6


def role(scores: Tensor, labels: Tensor, estimates: Tensor, *, k: int, lam: float = 1.0) -> Tensor:
    """Half the sum of the classifier's side and the estimator's side (Cole et al., two-head sec. 4.6).

    A side is, per class, cross-entropy with the other side held constant and log-loss of the label, plus ``lam`` times
    the squared gap between expected number of positives and k, per class squared, which is added to every value.

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices.
        estimates: (batch, classes) logits of the estimated labels.
        k: expected number of positives, 1 to classes - 1.
        lam: weight of the terms on the number of positives.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    scores = check_batch(scores, labels)
    check_k(k, scores.shape[1])
    estimates = estimates.to(scores.dtype)
    return (_side(scores, estimates, labels, k, lam) + _side(estimates, scores, labels, k, lam)) / 2


def _side(learner: Tensor, teacher: Tensor, labels: Tensor, k: int, lam: float) -> Tensor:
    num_classes = learner.shape[1]
    taught = binary_cross_entropy_with_logits(learner, teacher.detach().sigmoid(), reduction="none").sum(1)
    expected = learner.sigmoid().sum() / len(learner)
    observed = -logsigmoid(at_labels(learner, labels))
    return (observed + taught) / num_classes + lam * ((expected - k) / num_classes) ** 2


class Role(nn.Module):
    """`role` as a module that owns the estimates: the only loss with a parameter.

    Args:
        label_lr_factor: what the optimiser of the estimates should multiply the model's learning rate with.
        label_momentum: that it should have, where it is plain gradient descent.
        generator: of the estimates' start.
    """

    seen: Tensor

    def __init__(
        self,
        *,
        num_classes: int,
        k: int,
        num_examples: int,
        lam: float,
        label_lr_factor: float,
        label_momentum: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)
        self.lam = lam
        self.label_lr_factor = label_lr_factor
        self.label_momentum = label_momentum
        device = None if generator is None else generator.device
        uniform = torch.rand(num_examples, num_classes, generator=generator, device=device)
        self.estimates = nn.Parameter(uniform.mul_(2).sub_(1).mul_(OTHERS_START))
        self.register_buffer("seen", torch.zeros(num_examples, dtype=torch.bool, device=device))

    def forward(self, scores: Tensor, labels: Tensor, indices: Tensor | None = None) -> Tensor:
        """See `role`; `indices` (batch,) int64 say which training examples these are."""
        if indices is None or indices.dtype != torch.int64 or indices.shape != labels.shape:
            shape = None if indices is None else f"{indices.dtype} of shape {tuple(indices.shape)}"
            raise ValueError(f"indices must be int64 of shape {tuple(labels.shape)}, one for each label, got {shape}.")
        at_labels(check_batch(scores, labels).detach(), labels)  # which refuses bad labels before anything is written
        check_range("indices", indices, "num_examples", len(self.seen))
        self._start(labels, indices)
        return role(scores, labels, embedding(indices, self.estimates, sparse=True), k=self.k, lam=self.lam)

    @torch.no_grad()
    def _start(self, labels: Tensor, indices: Tensor) -> None:
        """Set the label's estimate of examples seen for the first time."""
        self.estimates[indices, labels] = self.estimates[indices, labels].where(self.seen[indices], LABEL_START)
        self.seen[indices] = True


DECLARATION = LossDeclaration(
    name="role",
    module=Role,
    paper="Cole et al. 2021; Garcin et al. 2023, sec. 4.6",
    about="Average-k sets of small data sets; keeps an estimate for every example and class in memory.",
    hyperparameters={
        "lam": Hyperparameter(
            default=1.0, low=0.0, search={"choice": (0.0, 1.0)}, about="weight of the number of positives"
        ),
        "label_lr_factor": Hyperparameter(
            default=10.0,
            above=0.0,
            search={"log_uniform": (0.1, 10.0)},
            unit="learning rates",
            about="learning rate of the estimates",
        ),
        "label_momentum": Hyperparameter(
            default=0.0, low=0.0, high=0.999, later=True, about="of the estimates, where the optimiser is sgd"
        ),
    },
    probabilities="sigmoid",
    needs_k=True,
    needs_indices=True,
    stops_gradient=True,
    needs_generator=True,
)
