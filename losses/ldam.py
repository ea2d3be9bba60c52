"""LDAM: cross-entropy with a margin that is wider for rarer classes.

Cao, Wei, Gaidon, Arechiga, Ma: Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss, 2019. Good for:
macro accuracy on imbalanced data. Wants cosine scores (a normalised last layer). Cost: cross-entropy.

Differs from the paper: nothing; classes without examples, of which it does not speak, have the widest margin. Its
deferred re-weighting is a schedule, not part of the loss. Table 1 of the noised paper leaves out the scale.

The scale belongs to the probabilities, too: bare cosines would make them almost flat, and average-k sets would be
ordered between examples by next to nothing.
"""

from __future__ import annotations

from torch import Tensor, nn

from setsweep.losses.checks import at_labels, check_batch
from setsweep.losses.cross_entropy import log_softmax
from setsweep.losses.declaration import Hyperparameter, LossDeclaration


def ldam(scores: Tensor, labels: Tensor, margins: Tensor, *, scale: float = 30.0) -> Tensor:
    """Cross-entropy of ``scale * (scores - margin of the label at the label)``.

    Args:
        scores: (batch, classes), cosines.
        labels: (batch,) class indices.
        margins: (classes,), see `class_margins`.
        scale: what the cosines, margin taken off, are multiplied with.

    Returns:
        (batch,) values.

    Raises:
        ValueError: shapes, dtypes or labels do not fit.
    """
    scores = check_batch(scores, labels)
    margin = at_labels(margins.to(scores.dtype).expand_as(scores), labels)
    harder = (scale * scores).scatter_add(1, labels.unsqueeze(1), -scale * margin.unsqueeze(1))
    return -at_labels(log_softmax(harder), labels)


def class_margins(class_counts: Tensor, max_margin: float) -> Tensor:
    """``C / count^(1/4)`` for each class, with C such that the rarest class has `max_margin`.

    A class without a training example counts as one of the rarest that have some: it gets `max_margin`.

    Args:
        class_counts: (classes,) training examples of each class, not all 0.
        max_margin: the largest margin.

    Returns:
        (classes,) float64.
    """
    counts = class_counts.double()
    rarest = counts[counts > 0].min()
    return max_margin * (rarest / counts.clamp_min(rarest)) ** 0.25


class LDAM(nn.Module):
    """`ldam` as a module with the margins that the class counts give."""

    margins: Tensor

    def __init__(self, *, num_classes: int, class_counts: Tensor, max_margin: float, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.register_buffer("margins", class_margins(class_counts, max_margin), persistent=False)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """See `ldam`."""
        return ldam(scores, labels, self.margins, scale=self.scale)


DECLARATION = LossDeclaration(
    name="ldam",
    module=LDAM,
    paper="Cao et al. 2019",
    about="Macro accuracy on imbalanced data; top-1 and top-k alike.",
    hyperparameters={
        "max_margin": Hyperparameter(
            default=0.5, low=0.0, search={"log_uniform": (0.1, 1.0)}, unit="cosines", about="margin of the rarest class"
        ),
        "scale": Hyperparameter(
            default=30.0, above=0.0, search={"uniform": (10.0, 60.0)}, about="what the cosines are multiplied with"
        ),
    },
    head="cosine",
    scaled_by="scale",
    revision=1,  # 0: thresholds were found on the softmax of bare cosines
    needs_class_counts=True,
)
