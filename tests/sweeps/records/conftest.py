"""What tests need that ask MLflow's store themselves, without the recorder."""

from __future__ import annotations

import pytest

from setsweep.sweeps.records.mlflow.quiet import keep_quiet


@pytest.fixture
def quiet() -> None:
    """MLflow warns of itself where it is imported, which the recorder has silenced."""
    keep_quiet()
