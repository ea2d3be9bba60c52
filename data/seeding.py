"""Independent random streams from one seed: each use of chance in a run has a purpose, which names its stream."""

from __future__ import annotations

import hashlib

import torch


def derived_seed(seed: int, purpose: str) -> int:
    """The first 8 bytes (big-endian) of SHA-256 of ``"{seed}/{purpose}"``: the same on every machine and version."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{purpose}".encode()).digest()[:8], "big")


def seeded_generator(seed: int, purpose: str) -> torch.Generator:
    """A CPU generator of its own for one purpose of a run.

    Args:
        seed: the run's seed.
        purpose: what the numbers are for, e.g. "label_noise"; another purpose gives unrelated numbers.
    """
    return torch.Generator().manual_seed(derived_seed(seed, purpose))
