"""What a run will take, from a short measurement."""

from __future__ import annotations

import heapq
import itertools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.cost import measure

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


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without CUDA")
def test_without_a_gpu_the_plan_of_a_study_for_one_says_what_it_cannot_know(
    setsweep: Callable[..., Any], folder: Path
) -> None:
    (folder / "gpu.yaml").write_text(TWO_POINTS.replace("gpus: auto", "gpus: 1"))
    said = setsweep("plan", "gpu.yaml")
    assert said.code == 0
    assert "two: 6 runs" in said.out
    assert "can't be known here: it is to have a GPU, and there is none" in " ".join(said.out.split())
    (folder / "rates.yaml").write_text("seconds_per_epoch: {cross_entropy: 30}\nmebibytes: {cross_entropy: 900}\n")
    rated = setsweep("plan", "gpu.yaml", "--rate", "rates.yaml", "--slots", "2")
    assert rated.code == 0
    assert "30 s  900 MiB" in rated.out
    assert "About 3 min of training: 90 s to 2 min on 2 slots of 0.5 CPU and 1 GPU" in rated.out  # 6 runs x 30 s


def test_what_was_measured_is_taken_elsewhere(setsweep: Callable[..., Any], folder: Path) -> None:
    (folder / "two.yaml").write_text(TWO_POINTS.replace(", gpus: auto", ""))
    assert setsweep("plan", "two.yaml", "--save-rate", "rates.yaml").code == 0
    measured = setsweep("plan", "two.yaml", "--rate", "rates.yaml", "--set", "training.epochs=20")
    again = setsweep("plan", "two.yaml", "--rate", "rates.yaml", "--set", "training.epochs=20")
    assert measured.out == again.out  # nothing is measured
    assert "Measuring" not in measured.err


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (None, "must be a file that 'plan --save-rate' has written"),
        ("[1]", "must be a file that 'plan --save-rate' has written"),
        ("seconds_per_epoch: {focal: 1}", "must have seconds_per_epoch of every arm, got none of cross_entropy"),
        ("seconds_per_epoch: {cross_entropy: -1}", "cross_entropy of 'rates.yaml' must be > 0, got -1"),
    ],
)
def test_a_file_that_tells_no_rates_is_refused(
    setsweep: Callable[..., Any], folder: Path, text: str | None, rule: str
) -> None:
    (folder / "two.yaml").write_text(TWO_POINTS)
    if text is not None:
        (folder / "rates.yaml").write_text(text)
    said = setsweep("plan", "two.yaml", "--rate", "rates.yaml")
    assert said.code == 2
    assert rule in said.err


def test_an_arm_that_has_nothing_left_is_not_measured(setsweep: Callable[..., Any], folder: Path) -> None:
    (folder / "two.yaml").write_text(TWO_POINTS.replace(", gpus: auto", ""))
    assert setsweep("run", "two.yaml", "--in-process").code == 0
    said = setsweep("plan", "two.yaml")
    assert said.code == 0
    assert "Measuring" not in said.err


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("--slots", "-3"), "--slots must be >= 1, got -3."),
        (("--set", "resources.cpus=1000"), "resources must fit on this machine"),
    ],
)
def test_what_no_machine_has_room_for_is_refused(
    setsweep: Callable[..., Any], folder: Path, arguments: tuple[str, ...], rule: str
) -> None:
    (folder / "two.yaml").write_text(TWO_POINTS)
    said = setsweep("plan", "two.yaml", *arguments)
    assert said.code == 2
    assert rule in said.err


def test_a_plan_tells_the_rungs_of_a_race_and_what_a_precision_may_cost(
    setsweep: Callable[..., Any], folder: Path
) -> None:
    """12 + 4 x 2 + 3 x 6 = 38 runs of search; choice and default with 3 to 7 seeds each."""
    text = TWO_POINTS.replace("[cross_entropy]", "{avgk: {alpha: default_space}}").replace("gpus: auto", "gpus: 0")
    text = text.replace("confirm: {seeds: 3}", "confirm: {half_width: 1, pilot: 3, max: 7}")
    text = text.replace("grid: {data.label_noise: [0, 0.2]}", "search: {trials: 12, race: {seeds: 9}}")
    (folder / "raced.yaml").write_text(text)
    said = setsweep("plan", "raced.yaml").out
    assert said.splitlines()[0].strip() == "two: 44 to 52 runs"
    assert "12 trials x 1 seed, 4 x 3, 3 x 9" in said
    assert "2 x 3 to 7 seeds" in said


def test_a_plan_as_json_tells_counts_and_what_they_take(setsweep: Any, small: Path) -> None:
    """Two epochs at 3 s for 2 runs, at 5 s for 3 + 2 runs: 12 + 50 s, on two slots 31."""
    (small.parent / "rate.yaml").write_text("seconds_per_epoch: {cross_entropy: 3, avgk: 5}\nmebibytes: {avgk: 300}\n")
    said = setsweep("plan", small, "--rate", "rate.yaml", "--slots", 2, "--json", "--set", "training.evaluate_every=9")
    plan = json.loads(said.out)
    runs = {"total": 7, "done": 0, "diverged": 0, "failed": 0, "left": 7}
    assert plan["runs"] == {**runs, "most": 7}
    assert plan["arms"]["avgk"] == {**runs, "total": 5, "left": 5, "seconds_a_run": 10, "mebibytes": 300}
    assert plan["arms"]["cross_entropy"]["mebibytes"] is None
    assert (plan["seconds"], plan["slots"], plan["seconds_on_slots"]) == (62, 2, 31)
    assert plan["wall_seconds"] == [31, (62 - 10) / 2 + 10]  # at worst the longest run begins when the other slot ends
    assert (plan["study"], plan["cpus"], plan["gpus"]) == ("small", 1, 0)
    assert "training.evaluate_every: 9 is beyond training.epochs = 2" in plan["notes"][0]


def test_a_plan_says_what_is_unusual_as_a_run_does(setsweep: Any, small: Path) -> None:
    (small.parent / "rate.yaml").write_text("seconds_per_epoch: {cross_entropy: 3, avgk: 5}\n")
    said = setsweep("plan", small, "--rate", "rate.yaml", "--slots", 2, "--set", "confirm.seeds=1")
    assert said.out.startswith("Note: confirm.seeds: one seed gives no interval and no test; ")


@pytest.mark.parametrize(
    ("slots", "wall"), [(1, (62, 62)), (6, (62 / 6, 52 / 6 + 10)), (8, (10, 52 / 8 + 10))], ids=["1", "6", "more"]
)
def test_no_order_of_the_runs_takes_less_or_more_than_the_plan_says(
    setsweep: Any, small: Path, slots: int, wall: tuple[float, float]
) -> None:
    (small.parent / "rate.yaml").write_text("seconds_per_epoch: {cross_entropy: 3, avgk: 5}\nmebibytes: {avgk: 300}\n")
    said = setsweep("plan", small, "--rate", "rate.yaml", "--slots", slots, "--json")
    assert json.loads(said.out)["wall_seconds"] == pytest.approx(wall)
    ends = [_makespan(order, slots) for order in itertools.permutations([6.0] * 2 + [10.0] * 5)][::7]
    assert min(ends) >= wall[0] - 1e-9
    assert max(ends) <= wall[1] + 1e-9


def _makespan(runs: Sequence[float], slots: int) -> float:
    """When the last run ends, if each slot takes the next as soon as it has none."""
    free = [0.0] * slots
    for run in runs:
        heapq.heapreplace(free, free[0] + run)
    return max(free)
