"""Two drivers on one real cluster: each gets its half, and gives back what it holds too much of."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.slots.mailbox import GIVE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FOLDER = Path(__file__).parents[3] / "benchmarks" / "sweep"


@pytest.fixture
def sharing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark, as a module."""
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location("sharing", FOLDER / "sharing.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "sharing", module)
    spec.loader.exec_module(module)
    return module


def test_two_studies_have_half_each(sharing: Any) -> None:
    with sharing.nodes(2, 2) as cluster:
        first = sharing.Driver(cluster, 10_000, 1)
        first.first()
        second = sharing.Driver(cluster, 10_000, 1)
        second.first()
        time.sleep(30)
        until = time.time() - 2
        runs = [driver.stop() for driver in (first, second)]
    parts = [sharing.training(each, until - 20, until) for each in runs]
    assert sharing.jain(parts) >= 0.98, parts
    assert min(parts) > 1, parts


def test_runs_that_are_long_are_given_back_in_the_middle(sharing: Any) -> None:
    """The first study has one run of ten minutes on each slot; the second is done before any of those."""
    with sharing.nodes(2, 2) as cluster:
        first = sharing.Driver(cluster, 8, 0.5, steps=1200)
        time.sleep(GIVE_SECONDS)
        second = sharing.Driver(cluster, 10, 1)
        assert len(second.wait()) == 10
        assert first.stop() == []
