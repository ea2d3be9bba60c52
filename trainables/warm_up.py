"""What the first run of a process would pay for, paid before it comes."""

from __future__ import annotations

import torch
from torch import nn

from setsweep.trainables.config.run_config import Optimizer
from setsweep.trainables.learners.optimizers import build_optimizer
from setsweep.trainables.memory import keep_freed_memory


def warm_up() -> None:
    """Keep freed memory, and initialise what a first forward and backward pass and a first step load."""
    keep_freed_memory()
    layer = nn.Linear(2, 2)
    torch.autograd.backward(nn.functional.cross_entropy(layer(torch.zeros(2, 2)), torch.zeros(2, dtype=torch.long)))
    build_optimizer(layer.parameters(), Optimizer()).step(0.1)
