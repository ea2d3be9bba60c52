"""How scores become the probabilities that thresholds are compared with."""

from __future__ import annotations

from torch import Tensor

from setsweep.losses import LOSSES
from setsweep.losses.checks import widened
from setsweep.losses.declaration import Probabilities
from setsweep.trainables.config.run_config import RunConfig

SMALL = 16  # rows shorter than a vector register


def to_probabilities(scores: Tensor, kind: Probabilities) -> Tensor:
    """Probabilities of (batch, classes) scores, in float32 where these came in half precision."""
    scores = widened(scores)
    if kind == "sigmoid":
        return scores.sigmoid()
    if scores.shape[1] < SMALL and scores.device.type == "cpu":
        return scores.t().softmax(0).t()  # torch vectorises within a row only where it is long
    return scores.softmax(1)


def probabilities_of(config: RunConfig) -> Probabilities:
    """How the scores of a run become probabilities: as it says, else as its loss declares."""
    training, declaration = config.training, LOSSES[config.loss["name"]]
    if training.threshold_scores is not None:
        return training.threshold_scores
    if declaration.head == "two_head" and training.head == "sccp":
        return "softmax"  # that head learns by cross-entropy
    return declaration.probabilities
