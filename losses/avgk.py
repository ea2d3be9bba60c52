"""AVG-K: a loss of two heads for average-k sets.

Garcin, Servajean, Joly, Salmon: A two-head loss function for deep Average-K classification, 2023, equations 10 to 15.
Good for: sets whose size follows the ambiguity of the example and is k on average, above all for rare classes. One head
(SCCP) learns by cross-entropy and proposes candidate classes over the batch; the other (ML) learns label and candidates
as positives. Cost: a second linear layer, one softmax, one log-sigmoid and one selection over the whole batch.

Differs from the paper: equation 14 as printed counts the true label among the negatives but not in their number; figure
3 leaves it out, and so do we (`y_in_negatives` gives the printed form). Without candidates (k = 1) their term is 0. Of
candidates that tie for the last places of equation 12 any are taken, as many as there are places.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from setsweep.losses.checks import at_labels, check_batch, check_k
from setsweep.losses.cross_entropy import log_softmax
from setsweep.losses.declaration import Hyperparameter, LossDeclaration
from setsweep.losses.kernels.selection import NotDifferentiable, top_positions
from setsweep.losses.kernels.short_rows import are_few, by_class, mark_largest_


def avgk(
    ml_scores: Tensor,
    sccp_scores: Tensor,
    labels: Tensor,
    *,
    k: int,
    alpha: float = 1.0,
    y_in_negatives: bool = False,
    batches: int = 1,
) -> Tensor:
    """Cross-entropy of the SCCP head plus binary cross-entropy of the ML head on its targets (two-head eq. 15).

    Args:
        ml_scores: (batch, classes) of the multi-label head, which predicts.
        sccp_scores: (batch, classes) of the head that proposes candidates. The choice of candidates is not
            differentiated.
        labels: (batch,) class indices.
        k: mean set size, 1 to classes - 1.
        alpha: weight of candidates and negatives against the label.
        y_in_negatives: count the label among the negatives too, as equation 14 is printed.
        batches: how many batches of one size the rows are, one after another, each with its own candidates.

    Returns:
        (batch,) values whose mean is the batch loss; each depends on the whole batch through the candidates.

    Raises:
        ValueError: shapes, dtypes, labels or k do not fit.
    """
    ml_scores = check_batch(ml_scores, labels)
    sccp_scores = check_batch(sccp_scores, labels)
    if ml_scores.shape != sccp_scores.shape:
        shapes = f"{tuple(ml_scores.shape)} and {tuple(sccp_scores.shape)}"
        raise ValueError(f"the scores of both heads must have one shape, got {shapes}.")
    num_classes = ml_scores.shape[1]
    check_k(k, num_classes)
    few = are_few(ml_scores)
    if few:
        ml_scores = by_class(ml_scores)
    log_probabilities = log_softmax(sccp_scores)
    cross_entropy = -at_labels(log_probabilities, labels)
    negative, positive = alpha / (num_classes - k), alpha / max(k - 1, 1)
    signs_and_weights = _SignsAndWeightsOfFew.of if few else _signs_and_weights
    signs, weights = signs_and_weights(log_probabilities.detach(), labels, k, negative, positive, batches)
    margins = signs * ml_scores
    of_classes = logsigmoid(margins.t()).t() if few else logsigmoid(margins)  # it copies what is not contiguous
    values = cross_entropy - (weights * of_classes).sum(1)
    return values - negative * logsigmoid(-at_labels(ml_scores, labels)) if y_in_negatives else values


def candidate_classes(log_probabilities: Tensor, labels: Tensor, *, k: int) -> Tensor:
    """The (k - 1) x batch likeliest classes of the batch, labels left out (two-head eq. 11 and 12).

    Args:
        log_probabilities: (batch, classes).
        labels: (batch,) class indices.
        k: mean set size, label included.

    Returns:
        ((k - 1) x batch,) positions in the flattened (batch, classes); exactly so many, whatever the ties.
    """
    others = log_probabilities.detach().scatter(1, labels.unsqueeze(1), -torch.inf)
    return top_positions(others.flatten(), (k - 1) * len(labels))


def _signs_and_weights(
    log_probabilities: Tensor, labels: Tensor, k: int, negative: float, positive: float, batches: int
) -> tuple[Tensor, Tensor]:
    """1 for the label and the candidates, else -1; and the weight of each class. Both (batch, classes)."""
    size = len(labels) // batches
    rows = [slice(start, start + size) for start in range(0, len(labels), size)]
    candidates = torch.cat(
        [
            each.start * log_probabilities.shape[1] + candidate_classes(log_probabilities[each], labels[each], k=k)
            for each in rows
        ]
    )
    of_label = labels.unsqueeze(1)
    signs = _filled(log_probabilities, -1.0, candidates, 1.0).scatter(1, of_label, 1.0)
    return signs, _filled(log_probabilities, negative, candidates, positive).scatter(1, of_label, 1.0)


def _filled(like: Tensor, elsewhere: float, positions: Tensor, value: float) -> Tensor:
    """A tensor like `like`, full of `elsewhere` and with `value` at the flattened `positions`."""
    return torch.full_like(like, elsewhere).flatten().scatter(0, positions, value).view_as(like)


class _SignsAndWeightsOfFew(NotDifferentiable):
    """As `_signs_and_weights`, where there are few classes: by a threshold instead of positions, a class at a time."""

    @staticmethod
    def forward(
        log_probabilities: Tensor, labels: Tensor, k: int, negative: float, positive: float, batches: int
    ) -> tuple[Tensor, Tensor]:
        of_label = labels * len(labels) + torch.arange(len(labels))  # places in the flattened (classes, batch)
        signs = log_probabilities.t().contiguous().clone()
        if k > 1:
            signs.view(-1).index_fill_(0, of_label, -torch.inf)
            mark_largest_(signs.view(len(signs), batches, -1), (k - 1) * len(labels) // batches)
        else:
            signs.zero_()
        weights = (1 - signs).mul_(negative).add_(signs, alpha=positive)
        weights.view(-1).index_fill_(0, of_label, 1.0)
        signs.view(-1).index_fill_(0, of_label, 1.0)
        return signs.mul_(2).sub_(1).t(), weights.t()

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int, int | None], scores: Tensor, labels: Tensor, *numbers: Any
    ) -> tuple[tuple[Tensor, ...], tuple[int, int]]:
        scores = scores.movedim(in_dims[0], 0)
        labels = labels.expand(len(scores), -1) if in_dims[1] is None else labels.movedim(in_dims[1], 0)
        k, negative, positive, batches = numbers
        rows, all_batches = scores.flatten(0, 1), batches * len(scores)
        both = _SignsAndWeightsOfFew.of(rows, labels.flatten(), k, negative, positive, all_batches)
        return tuple(each.unflatten(0, labels.shape) for each in both), (0, 0)


class AvgK(nn.Module):
    """`avgk` as a module that takes the pair (ml_scores, sccp_scores)."""

    def __init__(self, *, num_classes: int, k: int, alpha: float, y_in_negatives: bool) -> None:
        super().__init__()
        self.k = check_k(k, num_classes)
        self.alpha = alpha
        self.y_in_negatives = y_in_negatives

    def forward(self, scores: tuple[Tensor, Tensor], labels: Tensor, batches: int = 1) -> Tensor:
        """See `avgk`."""
        return avgk(*scores, labels, k=self.k, alpha=self.alpha, y_in_negatives=self.y_in_negatives, batches=batches)


DECLARATION = LossDeclaration(
    name="avgk",
    module=AvgK,
    paper="Garcin et al. 2023, eq. 10-15",
    about="Average-k sets; adapts the set size to the example, strongest for rare classes and large k.",
    hyperparameters={
        "alpha": Hyperparameter(
            default=1.0, low=0.0, search={"log_uniform": (0.1, 10.0)}, about="weight of candidates and negatives"
        ),
        "y_in_negatives": Hyperparameter(default=False, about="count the label among the negatives, as printed"),
    },
    head="two_head",
    probabilities="sigmoid",
    needs_k=True,
    takes_batches=True,
)
