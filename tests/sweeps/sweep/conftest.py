"""A study that is run for real, as fast as one can be."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study


@pytest.fixture
def tiny() -> Study:
    """A study of three runs that train in a moment."""
    plain: dict[str, Any] = {
        "study": "tiny",
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "training": {"epochs": 1, "batch_size": 512},
        "k": 1,
        "arms": ["cross_entropy"],
        "confirm": {"seeds": 3},
    }
    return read_study(plain)
