"""How many calibration examples a coverage takes; without torch, as what only tells needs it too."""

from __future__ import annotations

import math


def check_coverage(coverage: float) -> None:
    """Raise ValueError unless it is a share between 0 and 1, neither included."""
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must be > 0 and < 1, got {coverage}.")


def fewest(coverage: float) -> int:
    """How many calibration examples a finite threshold takes: ``coverage / (1 - coverage)``, rounded up."""
    return rounded_up(coverage / (1 - coverage))


def check_enough(examples: int, coverage: float) -> None:
    """Raise ValueError where all sets would hold every class, since the calibration examples are too few."""
    if examples < fewest(coverage):
        raise ValueError(
            f"calibration examples must be >= coverage / (1 - coverage) = {fewest(coverage)} for a coverage of "
            f"{coverage:g}, got {examples}."
        )


def rounded_up(number: float) -> int:
    """Rounded up, but for what multiplying shares like 0.9 leaves behind the decimal point."""
    return math.ceil(number - 1e-9)
