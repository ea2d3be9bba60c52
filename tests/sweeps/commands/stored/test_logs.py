"""``setsweep logs`` as one uses it to find why a run failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_a_failed_run_leaves_its_configuration_its_traceback_and_its_last_lines(
    setsweep: Any, failed: dict[str, Path]
) -> None:
    listed = setsweep("logs", "moods")
    assert listed.code == 0
    assert {line.split()[0] for line in listed.out.splitlines()} == set(failed)
    assert "failed: RuntimeError: not today" in listed.out
    key, folder = next(iter(failed.items()))
    shown = setsweep("logs", "moods", key[:6]).out
    assert 'raise RuntimeError("not today")' in shown
    assert "the moody network looks at" in shown
    assert f"setsweep rerun moods {key}" in shown
    assert "failed: RuntimeError: not today" in (folder / "reason.txt").read_text()


def test_a_run_that_is_not_there_is_refused(setsweep: Any, small: Path) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    records = map(json.loads, Path("setsweep-results/small/journal.jsonl").read_text().splitlines())
    key = next(record["result"]["key"] for record in records if record["record"] == "result")
    shown = setsweep("logs", "small", key).out.splitlines()
    assert [line.split()[2] for line in shown if line.startswith("20")] == ["started", "evaluated", "done"]
    refused = setsweep("logs", "small", "zzz")
    assert refused.code == 2
    assert "RUN must be the key of a run of the study, got 'zzz'." in refused.err
    assert "RUN must be the key of one run, got '', which 7 keys begin with." in setsweep("rerun", "small", "").err
