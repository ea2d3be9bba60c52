"""How much of the slots' time was training."""

from __future__ import annotations

from typing import Any

from setsweep.sweeps.sweep.slot_time import training_seconds
from setsweep.trainables.config.run_result import RunResult


def _result(**fields: Any) -> RunResult:
    return RunResult(**{"key": "a", "status": "done", "host": "here", **fields})


def test_runs_that_began_in_this_sweep_count_whole() -> None:
    results = [_result(seconds=4.0, started=100.0, finished=104.5), _result(seconds=3.0, started=105.0, finished=108.0)]
    assert training_seconds(results, since=99.0) == 7.0


def test_what_was_trained_before_a_restart_counts_in_the_sweep_that_has_trained_it() -> None:
    """50 s of training, of which 45 before the checkpoint from which it went on for 5 s."""
    assert training_seconds([_result(seconds=50.0, started=100.0, finished=105.0)], since=99.0) == 5.0


def test_what_was_trained_before_a_worker_died_in_this_sweep_counts() -> None:
    """Begun at 99, resumed at 115, over at 120: its 19 s of training are within the 21 since the sweep began."""
    assert training_seconds([_result(seconds=19.0, started=115.0, finished=120.0, attempts=2)], since=99.0) == 19.0
    assert training_seconds([_result(seconds=60.0, started=115.0, finished=120.0, attempts=2)], since=99.0) == 21.0


def test_seeds_that_trained_side_by_side_share_their_time() -> None:
    """Four seeds, resumed for 8 s together: 2 s each, whatever they had before."""
    results = [_result(seconds=25.0, started=100.0, finished=108.0) for _ in range(4)]
    assert training_seconds(results, since=99.0) == 8.0
