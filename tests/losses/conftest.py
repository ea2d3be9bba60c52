"""Golden values, and one ready-made example of every loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from setsweep.losses.contract import Case, case_of

GOLDEN = Path(__file__).parent.parent / "golden"
CLASSES = 7


@pytest.fixture
def example() -> Callable[..., Case]:
    """``example(name, dtype=torch.float64, batch=5, device="cpu", k=3, **hyperparameters)``; noise is given."""

    def make(name: str, *, batch: int = 5, device: str = "cpu", **settings: Any) -> Case:
        case = case_of(name, batch=batch, device=device, **settings)
        case.generator = None
        if name.startswith("noised"):
            generator = torch.Generator().manual_seed(5)
            noise = torch.randn(batch, 4, CLASSES, generator=generator, dtype=torch.float64)
            case.extra["noise"] = noise.to(device)
        return case

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
