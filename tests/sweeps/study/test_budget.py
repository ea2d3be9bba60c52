"""A study's budget: what it may take at most, and that it decides no result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.budget import Budget
from setsweep.sweeps.study.study import Study

Read = Callable[..., Study]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), Budget()),
        (("budget.max_time=1.5", "budget.max_runs=7"), Budget(max_time=1.5, max_runs=7)),
        (("budget.max_gpu_hours=3", "resources.gpus=0.5"), Budget(max_gpu_hours=3)),
    ],
)
def test_a_budget_is_of_time_runs_and_gpu_hours(read_text: Read, example: str, given: Any, expected: Budget) -> None:
    assert read_text(example, *given).budget == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("budget.max_runs=0", "budget.max_runs: must be >= 1, got 0."),
        ("budget.max_time=0", "budget.max_time: must be > 0, got 0."),
        ("budget.max_gpu_hours=1", "budget.max_gpu_hours: must be left out where runs have no GPU"),
        ("budget.max_hours=1", "budget.max_hours: unknown field"),
    ],
)
def test_a_budget_that_means_nothing_is_refused(read_text: Read, example: str, given: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"budget\.") as refused:
        read_text(example, given)
    assert message in str(refused.value)


def test_a_budget_is_no_part_of_run_keys_nor_of_the_protocol(read_text: Read, example: str) -> None:
    without, with_one = read_text(example), read_text(example, "budget.max_runs=3", "budget.max_time=1")
    assert without.protocol() == with_one.protocol()
    keys = [[run.key for run, _ in Planner(study).runs()] for study in (without, with_one)]
    assert keys[0] == keys[1]
