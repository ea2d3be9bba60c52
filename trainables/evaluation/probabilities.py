"""How scores become the probabilities that thresholds are compared with."""

from __future__ import annotations

from torch import Tensor

from setsweep.losses.checks import widened
from setsweep.losses.declaration import Probabilities
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig

SMALL = 16  # rows shorter than a vector register


def to_probabilities(scores: Tensor, kind: Probabilities, scale: float = 1.0) -> Tensor:
    """Probabilities of (batch, classes) scores times `scale`, in float32 where these came in half precision."""
    scores = widened(scores) if scale == 1 else scale * widened(scores)
    if kind == "sigmoid":
        return scores.sigmoid()
    if scores.shape[1] < SMALL and scores.device.type == "cpu":
        return scores.t().softmax(0).t()  # torch vectorises within a row only where it is long
    return scores.softmax(1)


def probabilities_of(config: RunConfig) -> Probabilities:
    """How the scores of a run become probabilities: as it says, else as its loss declares."""
    training, declaration = config.training, loss_declaration(config.loss["name"])
    if training.threshold_scores is not None:
        return training.threshold_scores
    if declaration.head == "two_head" and training.head == "sccp":
        return "softmax"  # that head learns by cross-entropy
    return declaration.probabilities


def scale_of(config: RunConfig) -> float:
    """What the scores of a run are multiplied with before they become probabilities."""
    name = loss_declaration(config.loss["name"]).scaled_by
    return float(config.loss[name]) if name else 1.0
