"""What a failed run leaves in the folder of its study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from setsweep.sweeps.records.failed_runs import FailedRuns, run_folder
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import Trace
from setsweep.trainables.settings.yaml_text import read_yaml

Make = Callable[..., Any]
TRACE = Trace(traceback="Traceback: not today\n", output="looking at images\n")


def files(folder: Path, key: str) -> dict[str, str]:
    there = run_folder(folder, key)
    return {path.name: path.read_text() for path in there.iterdir()} if there.exists() else {}


def test_a_diverged_run_leaves_its_configuration_and_its_reason(tmp_path: Path, make_pair: Make) -> None:
    planned, result = make_pair("focal", 0.2, 10, status="diverged")
    FailedRuns(tmp_path).finished(planned, result)
    left = files(tmp_path, planned.key)
    assert set(left) == {"config.yaml", "reason.txt"}
    assert left["reason.txt"] == "diverged: training loss must be finite, got nan in epoch 2.\n"


def test_the_configuration_is_one_that_can_be_trained_and_has_the_runs_key(tmp_path: Path, make_pair: Make) -> None:
    planned, result = make_pair("cross_entropy", 0.2, 10, status="diverged")
    FailedRuns(tmp_path).finished(planned, result)
    plain, _ = read_yaml(files(tmp_path, planned.key)["config.yaml"])
    assert isinstance(plain, dict)
    assert plain == planned.config.to_dict() | {"k": [2]}
    assert complete_config(plain).seed == planned.seed


def test_a_run_that_raised_an_error_leaves_where_and_what_it_said(tmp_path: Path, make_pair: Make) -> None:
    planned, result = make_pair("focal", 0.2, 10, status="failed")
    FailedRuns(tmp_path).finished(planned, replace(result, trace=TRACE))
    left = files(tmp_path, planned.key)
    assert (left["traceback.txt"], left["output.txt"]) == (TRACE.traceback, TRACE.output)


def test_a_run_that_fails_otherwise_the_next_time_leaves_nothing_of_the_first(tmp_path: Path, make_pair: Make) -> None:
    planned, failed = make_pair("focal", 0.2, 10, status="failed")
    watching = FailedRuns(tmp_path)
    watching.finished(planned, replace(failed, trace=TRACE))
    watching.finished(planned, replace(failed, reason="its worker was lost"))
    assert set(files(tmp_path, planned.key)) == {"config.yaml", "reason.txt"}
    assert files(tmp_path, planned.key)["reason.txt"] == "failed: its worker was lost\n"


def test_a_run_that_ends_well_leaves_nothing_and_takes_away_what_it_left(tmp_path: Path, make_pair: Make) -> None:
    planned, failed = make_pair("focal", 0.2, 10, status="failed")
    other, diverged = make_pair("focal", 0.2, 11, status="diverged")
    watching = FailedRuns(tmp_path)
    watching.finished(planned, failed)
    watching.finished(other, diverged)
    watching.finished(*make_pair("focal", 0.2, 10))
    assert files(tmp_path, planned.key) == {}
    assert files(tmp_path, other.key)
