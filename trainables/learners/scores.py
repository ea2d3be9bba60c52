"""The scores of a model, of one seed or of a seed group, as its loss and its evaluation take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from setsweep.trainables.config.run_config import Training
from setsweep.trainables.device import lower_precision
from setsweep.trainables.models.heads import Scores


def compute_scores(
    network: Callable[[Tensor], Any], inputs: Tensor, training: Training, device: torch.device
) -> Scores:
    """The float32 scores that a network gives in the precision of the run."""
    with lower_precision(training.precision, device):
        scores = network(inputs)
    return (scores[0].float(), scores[1].float()) if isinstance(scores, tuple) else scores.float()


def all_heads(scores: Scores) -> tuple[Tensor, ...]:
    """The scores of each head."""
    return scores if isinstance(scores, tuple) else (scores,)


def of_predicting_head(scores: Scores, training: Training) -> Tensor:
    """The scores of the head that predicts, where there are two."""
    return scores[0 if training.head == "ml" else 1] if isinstance(scores, tuple) else scores
