"""What a run gave, as it is recorded and read back."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import replace
from typing import Any

from setsweep.trainables.config.run_result import RunResult, failed

KEY = "9b60948c0f79f79e"


def test_a_result_survives_json() -> None:
    result = RunResult(
        key=KEY,
        status="done",
        metrics={"val/top2_accuracy": 0.5},
        best_epoch={"top2_accuracy": 2},
        epochs=(1, 2),
        curves={"val/top2_accuracy": (0.25, 0.5)},
        thresholds={"2": 0.125},
        seconds=1.5,
        started=1e9,
        finished=1e9 + 2,
        attempts=2,
        host="here",
        stopped=2,
        runtime={"device": "cpu", "threads": 1},
    )
    again = RunResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result
    assert again.runtime == result.runtime


def test_a_result_from_before_stops_and_runtimes_were_recorded_is_read() -> None:
    plain = RunResult(key=KEY, status="done", epochs=(1, 2)).to_dict()
    del plain["stopped"], plain["runtime"]
    result = RunResult.from_dict(plain)
    assert (result.stopped, result.runtime) == (None, {})


def test_what_a_run_was_computed_on_does_not_tell_results_apart() -> None:
    result = RunResult(key=KEY, status="done", runtime={"device": "cpu"})
    assert result == replace(result, runtime={"device": "NVIDIA H200"})


def test_only_a_failure_has_a_cause(make_config: Any) -> None:
    assert "cause" not in RunResult(key=KEY, status="done").to_dict()
    result = failed(make_config(), "no room", cause="memory", started=0.0, attempts=1)
    assert result.to_dict()["cause"] == "memory"
    assert RunResult.from_dict(result.to_dict()) == result


def test_a_failed_run_has_its_reason_and_no_numbers(make_config: Any) -> None:
    started = time.time()
    result = failed(make_config(), "ValueError: of its own", started=started, attempts=3)
    assert (result.key, result.status, result.cause) == (make_config().key, "failed", "error")
    assert (result.reason, result.attempts, result.host) == ("ValueError: of its own", 3, socket.gethostname())
    assert (result.metrics, result.curves, result.thresholds, result.epochs) == ({}, {}, {}, ())
    assert started == result.started <= result.finished <= time.time()
