"""What a run will take, from a short measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.commands.plan import measure
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.study import Resources, Study


@pytest.mark.parametrize("seeds", [3, "auto"])
def test_seeds_are_measured_as_they_train(study: Study, seeds: Any) -> None:
    configs = [run.config for run, _ in Planner(replace(study, grid={})).runs() if run.arm == "focal"]
    assert len(configs) == 5
    cost = measure(replace(study, resources=Resources(seeds_per_worker=seeds)), configs)
    assert cost.seconds > 0
    assert cost.mebibytes > 0
