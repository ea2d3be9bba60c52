"""``setsweep rerun``: one run again, here, with nothing recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_a_run_is_trained_again_with_its_traceback_on_the_screen_and_nothing_recorded(
    setsweep: Any, failed: dict[str, Path]
) -> None:
    journal = Path("setsweep-results/moods/journal.jsonl")
    before = journal.read_bytes()
    key = next(iter(failed))
    again = setsweep("rerun", "moods", key)
    assert again.code == 1
    assert again.err.rstrip().endswith("RuntimeError: not today")
    assert "Traceback" in again.err
    assert journal.read_bytes() == before


def test_a_run_that_is_done_is_trained_again_to_the_same_numbers(setsweep: Any, small: Path) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    records = Path("setsweep-results/small/journal.jsonl").read_text().splitlines()
    first = next(each for each in map(json.loads, records) if each["record"] == "result")
    again = setsweep("rerun", "small", first["result"]["key"])
    assert again.code == 0, again.err
    assert json.loads(again.out)["metrics"] == first["result"]["metrics"]
    assert setsweep("logs", "small").out == "No run has diverged or failed.\n"


def test_what_is_trained_again_is_named_before_it_is_trained(setsweep: Any, failed: dict[str, Path]) -> None:
    key = next(iter(failed))
    first = setsweep("rerun", "moods", key[:8]).err.splitlines()[0]
    assert first.startswith(f"{key}  cross_entropy, seed ")
