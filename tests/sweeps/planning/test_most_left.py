"""Which arm goes on: found without looking at all of them, and the same as if one had."""

from __future__ import annotations

import random
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

STUDIES: dict[str, dict[str, Any]] = {
    "searched, with a race": {
        "search": {"trials": 6, "sampler": "random", "objective": "val/avg2_accuracy", "race": {"seeds": 3}},
        "confirm": {"seeds": 2, "default": True},
    },
    "asynchronous": {
        "search": {"trials": 6, "sampler": "random", "objective": "val/avg2_accuracy", "asynchronous": True},
        "confirm": {"seeds": 2},
    },
    "to a precision": {
        "confirm": {"half_width": 0.3, "pilot": 3, "max": 12},
        "compare": {"primary": "test/avg2_accuracy"},
    },
}


def _study(**changes: Any) -> Study:
    plain: dict[str, Any] = {
        "study": "planned",
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "k": [2],
        "arms": {"cross_entropy": {}, "avgk": {"alpha": "default_space"}, "ldam": {}},
        "grid": {"data.label_noise": [0.0, 0.1, 0.2]},
    }
    if "search" not in changes:
        plain["arms"] = {"cross_entropy": {}, "avgk": {}, "ldam": {}}
    return read_study({**plain, **changes})


def _expected(planner: Planner) -> Any:
    ready = [cell for cell in planner._cells if cell.waiting]
    return max(ready, key=lambda cell: cell.left) if ready else None


@pytest.mark.parametrize("kind", STUDIES)
@pytest.mark.parametrize("seed", range(5))
def test_the_arm_with_most_left_to_do_goes_on_and_of_equal_ones_the_first(kind: str, seed: int) -> None:
    """Whatever is known already, and in whatever order results come."""
    draw = random.Random(seed)
    planner = Planner(_study(**STUDIES[kind]))
    training: list[PlannedRun] = []
    given = 0
    while True:
        expected = _expected(planner)
        assert planner._queue.first() is expected
        if expected is not None and len(training) < 8:
            run = planner.next_run()
            if isinstance(run, PlannedRun):
                training += [run, *(planner.more_seeds(run) if draw.random() < 0.3 else [])]
                given += 1
            continue
        if not training:
            break
        run = training.pop(draw.randrange(len(training)))
        metrics = {f"{split}/avg2_accuracy": draw.gauss(0.8, 0.01) for split in ("val", "test")}
        planner.tell(RunResult(key=run.key, status="done", metrics=metrics))
    assert planner.done == planner.total
    assert given > 15
