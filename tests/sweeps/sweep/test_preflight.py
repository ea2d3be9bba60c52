"""What is wrong with a study's runs is told before any of them is trained, and nothing is recorded."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from setsweep.sweeps.cli import BAD_INPUT, main
from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.sweep.preflight import forecast

STUDY = """\
study: wrong
data: {name: digits}
model: {name: linear}
training: {epochs: 1, batch_size: 64}
k: [1, 2]
arms: {cross_entropy: {}, focal: {}}
confirm: {seeds: 2}
"""

OWN = """\
from torch import nn


def network(input_shape, width):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width)), width


def wrong_width(input_shape):
    return nn.Flatten(), 63
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Calls run the study, changed by replacing one text by another, and give the exit code and what went to stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SETSWEEP_DATA", str(tmp_path / "data"))

    def call(old: str, new: str) -> tuple[int, str]:
        assert old in STUDY
        Path("wrong.yaml").write_text(STUDY.replace(old, new))
        code = main(["run", "wrong.yaml", "--in-process"])
        return code, capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("digits}\nmodel: {name: linear}", "circle}\nmodel: {name: small_cnn}", "must get images"),
        ("batch_size: 64", "batch_size: 5000", "training.batch_size must be <= the number of training examples = "),
        (
            "digits}\nmodel: {name: linear}\ntraining: {",
            "circle}\nmodel: {name: linear}\ntraining: {augment: {flip: true}, ",
            "augmentation must be off but for mixup",
        ),
        ("{name: digits}", "{name: cifar100}", "must exist, found none"),
        ("{name: digits}", "{name: image_folder, folder: birds}", "birds"),
        (
            "{name: linear}",
            "{name: own_nets:wrong_width}",
            "must give features (1, 63) for one example, got a tensor of shape (1, 64)",
        ),
        ("{name: linear}", "{name: own_nets:no_such}", "must name a function"),
        ("{name: linear}", "{name: no_such_module:net}", "can't be imported"),
        (
            "k: [1, 2]",
            "k: [1, 2]\ncoverage: [0.9, 0.999]",
            "calibration examples must be >= coverage / (1 - coverage) = 999 for a coverage of 0.999, got 360.",
        ),
    ],
)
def test_parts_that_do_not_fit_end_the_command_with_the_arm_and_the_reason(
    run: Any, tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "own_nets.py").write_text(OWN)
    code, told = run(old, new)
    assert code == BAD_INPUT
    assert re.search(r"wrong\.yaml(:\d+)?: cross_entropy: ", told)
    assert message in told
    journal = tmp_path / "setsweep-results" / "wrong" / "journal.jsonl"
    assert '"record":"result"' not in journal.read_text()


def test_records_of_a_study_that_is_refused_stay_as_they_are(run: Any, tmp_path: Path, empty_database: Path) -> None:
    """The arm that does not fit is added to a study that has results."""
    database = tmp_path / "mlflow.db"
    database.write_bytes(empty_database.read_bytes())
    assert run("arms: {cross_entropy: {}, focal: {}}", "arms: {cross_entropy: {}}")[0] == 0
    before = _statuses(database)
    assert set(before) == {"FINISHED"}
    code, _ = run("confirm: {seeds: 2}", "confirm: {seeds: 2}\ngrid: {training.batch_size: [64, 5000]}")
    assert code == BAD_INPUT
    assert _statuses(database) == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without CUDA")
def test_a_device_that_is_not_there_is_told(run: Any) -> None:
    code, told = run("training: {epochs: 1,", "resources: {gpus: 1}\ntraining: {epochs: 1, device: cuda,")
    assert code == BAD_INPUT
    assert "training.device must be a device that is there, got 'cuda'" in told


@pytest.mark.usefixtures("empty_database")
def test_a_network_of_ones_own_is_trained(run: Any, tmp_path: Path, empty_database: Path) -> None:
    (tmp_path / "own_nets.py").write_text(OWN)
    (tmp_path / "mlflow.db").write_bytes(empty_database.read_bytes())
    code, told = run("{name: linear}", "{name: own_nets:network, width: 8}")
    assert code == 0, told


def _statuses(database: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return [status for (status,) in connection.execute("SELECT status FROM runs ORDER BY run_uuid")]


def _expected(changes: dict[str, Any]) -> float | None:
    study = read_study({**yaml.safe_load(STUDY), **changes})
    return forecast(study, Planner(study), DatasetCache())


def test_a_few_steps_of_each_arm_say_how_long_a_study_will_take() -> None:
    """Ten times the seeds take ten times as long, give or take a factor of three on a machine that does other work."""
    few, many = (_expected({"confirm": {"seeds": seeds}}) for seeds in (2, 20))
    assert few is not None
    assert many is not None
    assert 3.3 < many / few < 33


@pytest.mark.parametrize(
    "changes",
    [
        {"resources": {"gpus": 1}},
        {"model": {"name": "own:wrong_width"}},
    ],
)
def test_what_can_not_be_measured_here_is_not_foretold(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    threads = torch.get_num_threads()
    assert _expected(changes) is None
    assert torch.get_num_threads() == threads
