"""``setsweep train``: one run, from a file of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def test_a_file_of_a_run_is_trained(setsweep: Any, folder: Path) -> None:
    text = "data: {name: digits}\nmodel: {name: linear}\nloss: {name: avgk}\nk: 2\ntraining: {epochs: 2}\n"
    (folder / "run.yaml").write_text(text)
    trained = setsweep("train", "run.yaml")
    assert trained.code == 0
    assert "test/avg2_accuracy" in json.loads(trained.out)["metrics"]
    assert "epoch 2: " in trained.err


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[]", "a configuration must be a mapping, got []."),
        ("k: 0", "k must"),
        (None, "must be a file that can be read"),
    ],
)
def test_a_file_that_is_no_run_is_refused(setsweep: Any, folder: Path, text: str | None, rule: str) -> None:
    if text is not None:
        (folder / "run.yaml").write_text(text)
    refused = setsweep("train", "run.yaml")
    assert refused.code == 2
    assert rule in refused.err
    assert refused.err.startswith("setsweep: run.yaml: ")


def test_a_run_that_diverges_ends_with_1_and_shows_its_result(setsweep: Any, folder: Path) -> None:
    text = "data: {name: digits}\nmodel: {name: linear}\nloss: {name: avgk}\nk: 2\n"
    (folder / "run.yaml").write_text(f"{text}training: {{epochs: 2, optimizer: {{lr: 10000, weight_decay: 1}}}}\n")
    trained = setsweep("train", "run.yaml")
    assert trained.code == 1
    assert json.loads(trained.out)["status"] == "diverged"
