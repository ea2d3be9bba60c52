"""What the first run of a process would pay for, paid before it comes."""

from __future__ import annotations

import torch
from torch import nn


def warm_up() -> None:
    """Import and initialise what a first backward pass and a first optimiser step load (about a second)."""
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    torch.autograd.backward(nn.functional.cross_entropy(layer(torch.zeros(2, 2)), torch.zeros(2, dtype=torch.long)))
    optimizer.step()
