"""A run from a file: what is trusted, what is refused, and how it is shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.train_file import show_epoch, show_result, train_file

CONFIG = """
data: {name: circle, shift: 60.0, per_class: 16}
model: {name: MODEL}
loss: {name: cross_entropy}
training: {epochs: 1, batch_size: 40}
k: 1
"""
OWN = "from torch import nn\n\ndef network(input_shape):\n    return nn.Flatten(), 2\n"


def test_a_model_beside_the_file_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_the_file.py").write_text(OWN)
    (tmp_path / "run.yaml").write_text(CONFIG.replace("MODEL", "'beside_the_file:network'"))
    monkeypatch.syspath_prepend(tmp_path)
    assert train_file(tmp_path / "run.yaml").status == "done"


def test_a_function_of_another_package_is_not_called(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(CONFIG.replace("MODEL", "'antigravity:network'"))
    with pytest.raises(
        ValueError, match=r"run\.yaml: model\.name must be a function of a module in the study's folder"
    ):
        train_file(file)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("- 1\n", r"a configuration must be a mapping, got \[1\]\."),
        ("", r"a configuration must be a mapping, got null\."),
        (
            "study: x\narms: {focal: {}}\n",
            r"must be the configuration of one run, got a study, which 'setsweep run' takes\.",
        ),
        (CONFIG.replace("MODEL", "linear").replace("k: 1", "k: 9"), "k"),
    ],
)
def test_what_is_wrong_is_told_after_the_files_name(tmp_path: Path, text: str, rule: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"^{file}: .*{rule}"):
        train_file(file)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{tmp_path}: must be a file that can be read, got: Is a directory.$"):
        train_file(tmp_path)


def test_epochs_are_shown_beside_the_result_which_can_be_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    result = RunResult(key="c0ffee", status="done", metrics={"test/top1_accuracy": 0.123456789})
    show_epoch(3, {"train/loss": 0.123456, "val/top1_accuracy": 1.0})
    show_result(result)
    shown = capsys.readouterr()
    assert shown.err == "epoch 3: train/loss 0.1235  val/top1_accuracy 1\n"
    assert RunResult.from_dict(json.loads(shown.out)) == result
