"""What happens to a run stands in a file of its own, as it happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.records.run_log import RunLog, log_file, read_log


def test_every_event_is_a_line_with_study_and_run(tmp_path: Path, make_pair: Callable[..., Any]) -> None:
    run, result = make_pair("focal", 0.2, 3)
    log = RunLog(tmp_path, "pairs")
    log.started(run)
    log.news([Moment(key=run.key, epoch=2, epochs=3, metrics={"train/loss": 1.25})])
    log.finished(run, replace(result, status="failed", reason="no memory", attempts=2))
    lines = [json.loads(line) for line in log_file(tmp_path, run.key).read_text().splitlines()]
    assert [(line["study"], line["run"]) for line in lines] == [("pairs", run.key)] * 3
    assert [line["event"] for line in lines] == ["started", "evaluated", "failed"]
    assert (lines[0]["arm"], lines[0]["seed"], lines[0]["point"]) == ("focal", 3, {"data.label_noise": 0.2})
    assert (lines[1]["epoch"], lines[1]["metrics"]) == (2, {"train/loss": 1.25})
    assert (lines[2]["reason"], lines[2]["attempts"], lines[2]["host"]) == ("no memory", 2, "here")
    told = [*read_log(tmp_path, run.key)]
    assert [line[21:].split()[0] for line in told] == ["started", "evaluated", "failed"]
    assert told[1].endswith("evaluated  epoch 2, epochs 3, train/loss 1.25")


def test_a_line_that_a_kill_cut_short_is_left_out_and_no_disk_stops_a_sweep(
    tmp_path: Path, make_pair: Callable[..., Any]
) -> None:
    run, _ = make_pair("focal", 0.0, 0)
    RunLog(tmp_path, "pairs").started(run)
    with log_file(tmp_path, run.key).open("a") as file:
        file.write('{"time": 1, "eve')
    assert len([*read_log(tmp_path, run.key)]) == 1
    RunLog(tmp_path / "file", "pairs").started(run)
    assert not [*read_log(tmp_path, "another")]
