"""What conformal sets are calibrated on, and whether that is enough."""

from __future__ import annotations

from collections.abc import Iterable

from setsweep.data.dataset import Dataset, Split
from setsweep.trainables.conformal.enough import check_enough


def calibration_split(dataset: Dataset) -> Split:
    """The split that is there for it, else validation."""
    return dataset.val if dataset.calibration is None else dataset.calibration


def check_calibration(coverages: Iterable[float], dataset: Dataset) -> None:
    """Raise ValueError where there are too few examples for a coverage that is asked for."""
    for coverage in coverages:
        check_enough(len(calibration_split(dataset)), coverage)
