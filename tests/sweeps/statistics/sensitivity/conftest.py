"""Accuracies of made-up studies that the two-way model is true of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

Make = Callable[..., Any]


@pytest.fixture
def trained() -> Make:
    """(values, seeds) accuracies on so many examples: logits mu_g + a_s + e_gs, as counts."""

    def make(
        draw: np.random.Generator,
        mu: Any,
        seeds: int,
        *,
        of_seeds: float = 0.11,
        rest: Any = 0.08,
        examples: int = 1000,
    ) -> Any:
        mu = np.asarray(mu, dtype=float)
        spread = np.broadcast_to(np.asarray(rest, dtype=float), mu.shape)[:, None]
        z = mu[:, None] + of_seeds * draw.normal(size=seeds) + spread * draw.normal(size=(len(mu), seeds))
        return np.round(expit(z) * examples) / examples

    return make


@pytest.fixture
def hill() -> Make:
    """Logits of so many values with one best, from 0.88 to 0.92 of accuracy or so."""

    def make(values: int, height: float = 0.5) -> Any:
        return 2.4 - height * (np.linspace(0, 1, values) - 0.6) ** 2 * 4

    return make
