"""``setsweep logs``, ``rerun`` and ``train`` as one uses them to find why a run failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

MODEL = """\
import torch
from torch import nn


class Moody(nn.Module):
    def forward(self, inputs):
        print("the moody network looks at", inputs.shape[0], "images")
        if torch.initial_seed() % 2 and inputs.shape[0] == 53:  # the last batch of an epoch: 1,077 = 2 x 512 + 53
            raise RuntimeError("not today")
        return inputs.flatten(1)


def network(input_shape):
    return Moody(), 64
"""

STUDY = """\
study: moods
data: {name: digits}
model: {name: "moody_model:network"}
training: {epochs: 1, batch_size: 512}
k: 2
arms: {cross_entropy: {}}
confirm: {seeds: 6}
"""


@pytest.fixture
def failed(setsweep: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The failed runs of a study whose model refuses some seeds, by key, as JSON has them."""
    (folder / "moody_model.py").write_text(MODEL)
    (folder / "moods.yaml").write_text(STUDY)
    monkeypatch.syspath_prepend(folder)
    ended = setsweep("run", "moods.yaml", "--in-process")
    assert ended.code == 1, ended.err
    runs = {path.name: path for path in Path("setsweep-results/moods/runs").iterdir()}
    assert 0 < len(runs) < 6, "six seeds are all of one mood once in 32 times, but these are fixed"
    return runs


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


def test_a_run_that_is_not_there_is_refused(setsweep: Any, small: Path) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    refused = setsweep("logs", "small", "zzz")
    assert refused.code == 2
    assert "RUN must be the key of a run of the study, got 'zzz'." in refused.err
    assert "RUN must be the key of one run, got '', which 7 keys begin with." in setsweep("rerun", "small", "").err


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
