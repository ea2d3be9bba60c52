"""What a run will take, from a short measurement."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.sweeps.commands.plan import measure
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.study import Resources, Study

TWO_POINTS = """\
study: two
data: {name: digits}
model: {name: linear}
training: {epochs: 1, batch_size: 512}
k: 1
arms: [cross_entropy]
grid: {data.label_noise: [0, 0.2]}
confirm: {seeds: 3}
resources: {cpus: 0.5, gpus: auto}
"""


@pytest.mark.parametrize("seeds", [3, "auto"])
def test_seeds_are_measured_as_they_train(study: Study, seeds: Any) -> None:
    configs = [run.config for run, _ in Planner(replace(study, grid={})).runs() if run.arm == "focal"]
    assert len(configs) == 5
    cost = measure(replace(study, resources=Resources(seeds_per_worker=seeds)), configs)
    assert cost.seconds > 0
    assert cost.mebibytes > 0


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without CUDA, where CPUs alone decide the slots")
def test_a_plan_counts_points_seeds_and_what_is_done(setsweep: Callable[..., Any], folder: Path) -> None:
    (folder / "two.yaml").write_text(TWO_POINTS)
    assert setsweep("run", "two.yaml", "--in-process", "--set", "confirm.seeds=1").code == 0
    said = setsweep("plan", "two.yaml")
    title, _, row = said.out.splitlines()[:3]
    assert title.strip() == "two: 6 runs"
    assert row.split()[:8] == ["cross_entropy", "-", "2", "x", "3", "seeds", "6", "2"]
    slots = 2 * (os.cpu_count() or 1)
    assert f" on {slots} slots of 0.5 CPU and a measured share of a GPU, and some seconds to start." in said.out
