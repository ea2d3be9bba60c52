"""``python -m setsweep.trainables CONFIG.yaml``: one run, for a person or a shell script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from setsweep.trainables.__main__ import main
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.loop import train

CONFIG = """
data: {name: digits}
model: {name: linear}
loss: {name: avgk}
training: {epochs: 3, optimizer: {lr: 0.1}}
k: [1, 2]
seed: 4
"""
WITHOUT_THE_SWEEPERS = """
import runpy, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("ray", "optuna", "mlflow") or name == "setsweep.sweeps":
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Refuse())
runpy.run_module("setsweep.trainables", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A configuration file."""
    file = tmp_path / "run.yaml"
    file.write_text(CONFIG)
    return file


def test_a_run_can_name_the_schedule_of_a_paper(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(CONFIG.replace("epochs: 3, optimizer: {lr: 0.1}", "preset: sawada_circle, epochs: 2"))
    assert main([str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["epochs"] == [2]  # the preset evaluates every 100th, and the last


def test_a_run_needs_neither_ray_nor_optuna_nor_mlflow(path: Path, outcome: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_SWEEPERS, str(path)],
        cwd=path.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = RunResult.from_dict(json.loads(done.stdout))
    plain = {
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "loss": {"name": "avgk"},
        "training": {"epochs": 3, "optimizer": {"lr": 0.1}},
        "k": [1, 2],
        "seed": 4,
    }
    assert outcome(result) == outcome(train(complete_config(plain)))


def test_the_result_goes_to_stdout_and_the_epochs_to_stderr(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path)]) == 0
    shown = capsys.readouterr()
    result = json.loads(shown.out)
    assert result["status"] == "done"
    assert "test/avg2_accuracy" in result["metrics"]
    lines = shown.err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 1", "epoch 2", "epoch 3"]
    assert f"val/top2_accuracy {result['curves']['val/top2_accuracy'][2]:.4g}" in lines[2]


def test_a_diverged_run_exits_with_1(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(CONFIG.replace("optimizer: {lr: 0.1}", "optimizer: {lr: 10000, weight_decay: 1}"))
    assert main([str(path)]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["status"] == "diverged"
    assert result["reason"].startswith("training loss must be finite, got ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CONFIG.replace("epochs: 3", "epochs: 0"), "training.epochs must be >= 1, got 0."),
        (CONFIG.replace("avgk", "avg_k"), "loss.name: unknown loss 'avg_k'. Did you mean 'avgk'?"),
        (CONFIG.replace("epochs: 3", "epochs: 3, batch_size: 5000"), "training.batch_size must be <= the number of"),
        (CONFIG.replace("linear", "small_cnn").replace("digits", "circle"), "model small_cnn must get images"),
        (CONFIG.replace("name: digits", "name: cifar100"), "cifar-100-python"),
        ("- a list\n", "a configuration must be a mapping, got ['a list']."),
        ("", "a configuration must be a mapping, got null."),
        ("data: {name: digits\n", "must close every {, got the end of the text."),
        ("data: !!python/object/apply:os.getcwd []\n", "tags that run code are not read"),
    ],
)
def test_bad_input_exits_with_2_and_says_what_is_wrong_with_which_file(
    text: str, message: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text(text)
    assert main([str(path), "--root", str(path.parent / "no data")]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"{path}: ")
    assert message in shown.err


def test_a_file_that_is_not_there_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.yaml")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_stopped_run_goes_on_from_its_checkpoint(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(epoch: int, metrics: object) -> None:
        if epoch == 2:
            raise KeyboardInterrupt(metrics)

    checkpoint = tmp_path / "checkpoint"
    plain = {"data": {"name": "digits"}, "model": {"name": "linear"}, "loss": {"name": "avgk"}, "k": [1, 2], "seed": 4}
    config = complete_config(plain | {"training": {"epochs": 3, "optimizer": {"lr": 0.1}}})
    with pytest.raises(KeyboardInterrupt):
        train(config, checkpoint=checkpoint, checkpoint_seconds=0, on_epoch=stop)
    assert main([str(path), "--checkpoint", str(checkpoint)]) == 0
    shown = capsys.readouterr()
    assert [line.split(":")[0] for line in shown.err.splitlines()] == ["epoch 2", "epoch 3"]
    assert json.loads(shown.out)["metrics"] == train(config).metrics
    assert not checkpoint.exists()
