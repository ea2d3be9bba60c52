"""Logit adjustment: cross-entropy with the classes' frequencies inside the softmax.

Menon, Jayasumana, Rawat, Jain, Veit, Kumar: Long-tail Learning via Logit Adjustment, ICLR 2021, equation 10. Good for:
macro accuracy on imbalanced data; with tau = 1 consistent for the balanced error. The model predicts by the scores
themselves, which the frequencies are not added to. Cost: cross-entropy. Takes soft labels.

Differs from the paper: nothing; classes without examples, of which it does not speak, count as the rarest that have
some. The published code adds 1e-12 to the frequencies to the power of tau, which leaves such classes out.
"""

from __future__ import annotations

from torch import Tensor, nn

from setsweep.losses.checks import check_batch
from setsweep.losses.cross_entropy import cross_entropy
from setsweep.losses.declaration import Hyperparameter, LossDeclaration


def logit_adjustment(scores: Tensor, labels: Tensor, log_priors: Tensor, *, tau: float = 1.0) -> Tensor:
    """Cross-entropy of ``scores + tau * log_priors`` (Menon et al. eq. 10).

    Args:
        scores: (batch, classes).
        labels: (batch,) class indices, or (batch, classes) probabilities.
        log_priors: (classes,), see `class_log_priors`.
        tau: how much the frequencies count; 0 gives cross-entropy.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    scores = check_batch(scores, labels, soft_labels=True)
    return cross_entropy(scores + tau * log_priors.to(scores.dtype), labels)


def class_log_priors(class_counts: Tensor) -> Tensor:
    """The logarithm of each class's share of the training examples.

    A class without a training example counts as one of the rarest that have some.

    Args:
        class_counts: (classes,) training examples of each class, not all 0.

    Returns:
        (classes,) float64.
    """
    counts = class_counts.double()
    counts = counts.clamp_min(counts[counts > 0].min())
    return (counts / counts.sum()).log()


class LogitAdjustment(nn.Module):
    """`logit_adjustment` as a module with the frequencies that the class counts give."""

    log_priors: Tensor

    def __init__(self, *, num_classes: int, class_counts: Tensor, tau: float) -> None:
        super().__init__()
        self.tau = tau
        self.register_buffer("log_priors", class_log_priors(class_counts), persistent=False)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `logit_adjustment`."""
        return logit_adjustment(scores, labels, self.log_priors, tau=self.tau)


DECLARATION = LossDeclaration(
    name="logit_adjustment",
    module=LogitAdjustment,
    paper="Menon et al. 2021, eq. 10",
    about="Macro accuracy on imbalanced data, with ordinary scores; consistent for the balanced error.",
    hyperparameters={
        "tau": Hyperparameter(
            default=1.0, low=0.0, search={"log_uniform": (0.1, 3.0)}, about="how much the class frequencies count"
        )
    },
    needs_class_counts=True,
    soft_labels=True,
)
