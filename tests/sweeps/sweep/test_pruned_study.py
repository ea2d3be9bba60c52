"""A study whose trials are stopped, in real training: it ends, says so, and trains nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

STUDY = """\
study: pruned
data: {name: digits}
model: {name: mlp, hidden: 16}
training: {epochs: 6, batch_size: 256, optimizer: {lr: {log_uniform: [0.001, 1.0]}}}
k: [2]
arms: {avgk: {}}
search: {trials: 12, sampler: qmc, seeds: 2, pruner: {name: median, startup: 4}}
confirm: {seeds: 2, default: false}
"""


def test_trials_are_stopped_reported_and_found_again(folder: Path, setsweep: Callable[..., Any]) -> None:
    (folder / "pruned.yaml").write_text(STUDY)
    said = setsweep("run", "pruned.yaml", "--in-process")
    assert said.code == 0, said
    results = folder / "setsweep-results" / "pruned"
    (searched,) = json.loads((results / "report" / "report.json").read_text())["searches"]
    assert searched["stopped"]
    assert str(searched["chosen"]) not in searched["stopped"]
    lines = (json.loads(line) for line in (results / "journal.jsonl").read_text().splitlines())
    runs = [each for line in lines for each in line.get("results", [line]) if each["record"] == "result"]
    pruned = {str(each["trial"]): each["result"]["pruned"] for each in runs if each["result"].get("pruned")}
    assert pruned == searched["stopped"]
    for each in runs:
        assert each["result"]["status"] == "done"
        assert each["result"]["epochs"][-1] == each["result"].get("pruned", 6)
    before = (results / "journal.jsonl").read_bytes()
    again = setsweep("run", "pruned.yaml", "--in-process")
    assert "All 26 runs of pruned are done." in again.err
    assert (results / "journal.jsonl").read_bytes() == before
