"""Heads: the last layer, which turns features into the kind of scores that a loss declares."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from setsweep.losses.declaration import Head

Scores = Tensor | tuple[Tensor, Tensor]  # what a head gives, (batch, classes): two heads a pair


class TwoHead(nn.Module):
    """The two heads of the two-head paper (section 5.2) on the same features.

    Returns (multi-label scores, candidate scores), each (batch, classes).
    """

    def __init__(self, features: int, num_classes: int, *, bias: bool = True) -> None:
        super().__init__()
        self.ml = nn.Linear(features, num_classes, bias=bias)
        self.sccp = nn.Linear(features, num_classes, bias=bias)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of a batch of features."""
        return self.ml(features), self.sccp(features)


class CosineHead(nn.Module):
    """Cosine between features and class vectors: scores (batch, classes) in [-1, 1].

    The losses that ask for it scale the cosine themselves (noised paper section 4.5; Wang et al. 2018).
    """

    def __init__(self, features: int, num_classes: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_classes, features))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, features: Tensor) -> Tensor:
        """Scores of a batch of features."""
        return functional.linear(functional.normalize(features, dim=1), functional.normalize(self.weight, dim=1))


def build_head(head: Head, features: int, num_classes: int, *, bias: bool = True) -> nn.Module:
    """A head of the kind a loss declares; `bias` does not apply to the cosine head."""
    if head == "linear":
        return nn.Linear(features, num_classes, bias=bias)
    if head == "two_head":
        return TwoHead(features, num_classes, bias=bias)
    return CosineHead(features, num_classes)
