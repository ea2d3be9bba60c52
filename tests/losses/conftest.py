"""Golden values, and one ready-made example of every loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from setsweep.losses import LOSSES, build_loss

GOLDEN = Path(__file__).parent.parent / "golden"
CLASSES, K = 7, 3


@dataclass
class Example:
    """A loss and what it takes: `scores` has one entry for each head."""

    loss: nn.Module
    scores: tuple[Tensor, ...]
    labels: Tensor
    extra: dict[str, Tensor] = field(default_factory=dict)

    def values(self, *scores: Tensor, rows: Tensor | slice = slice(None), **changes: Any) -> Tensor:
        given = [one[rows] for one in (scores or self.scores)]
        extra = {name: value[rows] for name, value in self.extra.items()} | changes
        return self.loss(tuple(given) if len(given) > 1 else given[0], self.labels[rows], **extra)


@pytest.fixture
def example() -> Callable[..., Example]:
    """``example(name, dtype=torch.float64, batch=5, device="cpu", k=3, **hyperparameters)``."""

    def make(name: str, *, dtype: torch.dtype = torch.float64, batch: int = 5, k: int = K, **settings: Any) -> Example:
        declaration = LOSSES[name]
        device = settings.pop("device", "cpu")
        generator = torch.Generator().manual_seed(4)
        counts = torch.tensor([1, 5, 20, 0, 100, 3, 7])
        loss = build_loss(name, num_classes=CLASSES, k=k, class_counts=counts, num_examples=batch, **settings)
        heads = 2 if declaration.head == "two_head" else 1
        scores = [torch.randn(batch, CLASSES, generator=generator, dtype=torch.float64) for _ in range(heads)]
        labels = torch.randint(CLASSES, (batch,), generator=generator)
        extra = {}
        if name.startswith("noised"):
            extra["noise"] = torch.randn(batch, 4, CLASSES, generator=generator, dtype=torch.float64).to(device)
        if declaration.needs_indices:
            extra["indices"] = torch.arange(batch, device=device)
        given = tuple(one.to(device, dtype) for one in scores)
        return Example(loss.to(device), given, labels.to(device), extra)

    return make


@pytest.fixture
def batch() -> tuple[Tensor, Tensor]:
    """Scores (40, 12), spread three times as wide as a standard normal, and labels (40,)."""
    generator = torch.Generator().manual_seed(1)
    scores = 3 * torch.randn(40, 12, generator=generator, dtype=torch.float64)
    return scores, torch.randint(12, (40,), generator=generator)


@pytest.fixture
def golden() -> Callable[[str], list[tuple[dict[str, Any], dict[str, Tensor]]]]:
    """``golden(name)``: pairs of a case's description and its arrays."""

    def load(name: str) -> list[tuple[dict[str, Any], dict[str, Tensor]]]:
        with np.load(GOLDEN / f"{name}.npz") as arrays:
            cases = json.loads(str(arrays["meta"]))
            return [
                (case, {array: torch.from_numpy(arrays[f"{case['id']}_{array}"]) for array in case["arrays"]})
                for case in cases
            ]

    return load
