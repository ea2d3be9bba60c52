"""A run that is stopped and started again ends as if it had not been: to the last bit, on a CPU."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import setsweep.trainables.checkpoint
from setsweep.data.dataset import Dataset
from setsweep.trainables.checkpoint import Interrupted, save_checkpoint
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.loop import train, train_seeds

IMAGES = {"data": {"name": "digits"}, "model": {"name": "small_cnn", "width": 4}}
WITH_IT_ALL = {
    "optimizer": {"lr": 0.5, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3},
    "milestones": [1, 3],
    "reference_batch_size": 80,
}
RUNS: dict[str, dict[str, Any]] = {
    "mini-batches": {},
    "full batch": {"training": {"batch_size": "full", "epochs": 9}},
    "full batch with momentum": {"training": {"batch_size": "full", "epochs": 9} | WITH_IT_ALL},
    "momentum and milestones": {"training": WITH_IT_ALL, "model": {"name": "mlp", "hidden": 8}},
    "adam": {"training": {"optimizer": {"name": "adam", "lr": 0.1}}},
    "adamw": {"training": {"optimizer": {"name": "adamw", "lr": 0.1, "weight_decay": 0.1}}},
    "two heads": {"loss": {"name": "avgk"}, "k": 2},
    "noise": {"loss": {"name": "noised_topk_hinge"}, "k": 2},
    "noise on cosines": {"loss": {"name": "noised_imbalanced_topk_hinge"}, "k": 2},
    "estimated labels": {"loss": {"name": "role"}, "k": 2},
    "estimated labels with adam": {
        "loss": {"name": "role"},
        "k": 2,
        "training": {"optimizer": {"name": "adam", "lr": 0.1}},
    },
    "the last epoch": {"training": {"keep": "last"}},
    "some epochs evaluated": {"training": {"evaluate_every": 3}},
    "batch normalisation": IMAGES,
    "warm-up": {"training": WITH_IT_ALL | {"warmup_epochs": 2}},
    "clipped gradients": {"training": WITH_IT_ALL | {"clip_norm": 0.2}},
    "averaged weights": IMAGES | {"training": {"ema": 0.7}},
    "averaged weights of two heads": {"loss": {"name": "avgk"}, "k": 2, "training": {"ema": 0.9}},
    "patience": {"training": {"epochs": 30, "patience": 2}, "k": [2]},
    "bfloat16": IMAGES | {"training": {"precision": "bfloat16"}},
    "augmentation": IMAGES | {"training": {"augment": {"pad_crop": 1, "flip": True, "cutout": 2}}},
    "mixed examples": {"training": {"augment": {"mixup": 0.5}}},
    "everything at once": IMAGES
    | {
        "loss": {"name": "topk_transition"},
        "k": 2,
        "training": WITH_IT_ALL
        | {"warmup_epochs": 2, "clip_norm": 1, "ema": 0.8, "patience": 3, "precision": "bfloat16"}
        | {"augment": {"pad_crop": 1, "flip": True, "cutout": 2, "mixup": 1}},
    },
}


class StoppedError(Exception):
    """What stops a run in these tests."""


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Call it with n: the next run stops right after writing its n-th checkpoint."""
    left = [0]

    def save(state: dict[str, Any], path: Path) -> None:
        save_checkpoint(state, path)
        left[0] -= 1
        if left[0] == 0:
            raise StoppedError

    monkeypatch.setattr(setsweep.trainables.checkpoint, "save_checkpoint", save)
    return lambda n: left.__setitem__(0, n)


def _train(config: RunConfig, folder: Path, dataset: Dataset | None, *, resumable: bool = True) -> RunResult:
    return train(
        config,
        dataset=dataset,
        checkpoint=folder / "checkpoint" if resumable else None,
        checkpoint_seconds=0,
        keep_model=KeepModel(folder=folder, criterion="avg2_accuracy"),
    )


@pytest.mark.parametrize("name", RUNS)
def test_a_run_stopped_after_each_step_ends_as_the_uninterrupted_one(
    name: str,
    make_config: Any,
    digits: Dataset,
    outcome: Any,
    same_weights: Any,
    stop_after: Callable[[int], None],
    tmp_path: Path,
) -> None:
    config = make_config(**RUNS[name])
    dataset = digits if config.data["name"] == "digits" else None
    whole = _train(config, tmp_path / "whole", dataset, resumable=False)
    stops = 0
    while True:
        stop_after(1)
        try:
            result = _train(config, tmp_path / "stopped", dataset)
        except StoppedError:
            stops += 1
        else:
            break
    assert whole.status == "done"
    steps = 1 if config.training.batch_size == "full" else 3
    assert stops == steps * (whole.stopped or config.training.epochs)
    assert (whole.stopped is not None) == (name == "patience")
    assert outcome(result) == outcome(whole)
    assert same_weights(tmp_path / "whole", tmp_path / "stopped")
    assert [path.name for path in (tmp_path / "stopped").iterdir()] == ["model.pt"]


def test_it_does_not_matter_where_a_run_is_stopped_once(
    make_config: Any, outcome: Any, same_weights: Any, stop_after: Callable[[int], None], tmp_path: Path
) -> None:
    config = make_config(loss={"name": "noised_topk_hinge"}, k=2, training=WITH_IT_ALL)
    whole = _train(config, tmp_path / "whole", None, resumable=False)
    for step in range(1, 13):
        folder = tmp_path / str(step)
        stop_after(step)
        with pytest.raises(StoppedError):
            _train(config, folder, None)
        assert outcome(_train(config, folder, None)) == outcome(whole)
        assert same_weights(tmp_path / "whole", folder)


@pytest.mark.parametrize("steps", [0, 3, 4, 15])  # within an epoch, between two, and before the test
def test_a_run_that_is_asked_to_stop_has_lost_no_step(
    make_config: Any, digits: Dataset, outcome: Any, steps: int, tmp_path: Path
) -> None:
    """It is asked after each of three steps an epoch, and after each of four evaluations."""
    config, checkpoint = make_config(), tmp_path / "checkpoint"
    asked, again = itertools.count(), itertools.count()
    with pytest.raises(Interrupted):
        train_seeds([config], datasets=[digits], checkpoint=checkpoint, stop=lambda: next(asked) == steps)
    (result,) = train_seeds([config], datasets=[digits], checkpoint=checkpoint, stop=lambda: next(again) < 0)
    assert next(asked) + next(again) == 3 * 4 + 4
    assert outcome(result) == outcome(train(config, dataset=digits))


def test_a_run_stopped_in_its_report_of_an_epoch_ends_as_the_uninterrupted_one(
    make_config: Any, outcome: Any, tmp_path: Path
) -> None:
    config = make_config()

    def stop(epoch: int, metrics: object) -> None:
        del metrics
        if epoch == 2:
            raise StoppedError

    checkpoint = tmp_path / "checkpoint"
    with pytest.raises(StoppedError):
        train(config, checkpoint=checkpoint, checkpoint_seconds=0, on_epoch=stop)
    assert checkpoint.exists()
    assert outcome(train(config, checkpoint=checkpoint)) == outcome(train(config))


def test_the_time_of_a_resumed_run_counts_what_was_spent_before(make_config: Any, tmp_path: Path) -> None:
    import time

    def slow(epoch: int, metrics: object) -> None:
        del metrics
        time.sleep(0.1)
        if epoch == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        train(make_config(), checkpoint=tmp_path / "checkpoint", checkpoint_seconds=0, on_epoch=slow)
    assert train(make_config(), checkpoint=tmp_path / "checkpoint").seconds > 0.2


def test_the_checkpoint_of_another_run_is_not_resumed_from(
    make_config: Any, outcome: Any, stop_after: Callable[[int], None], tmp_path: Path
) -> None:
    stop_after(4)
    with pytest.raises(StoppedError):
        _train(make_config(seed=1), tmp_path, None)
    config = make_config(seed=2)
    assert outcome(_train(config, tmp_path, None)) == outcome(train(config))


KILLED_WHILE_WRITING = """
import io, os, signal, sys
from pathlib import Path
import torch
from setsweep.trainables.loop import train
from setsweep.trainables.config.run_config import RunConfig
import json

save, writes = torch.save, [0]

def half(state, file):
    writes[0] += 1
    if writes[0] < int(sys.argv[3]):
        return save(state, file)
    whole = io.BytesIO()
    save(state, whole)
    file.write(whole.getvalue()[: len(whole.getvalue()) // 2])
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

torch.save = half
config = RunConfig.from_dict(json.loads(sys.argv[1]))
train(config, checkpoint=Path(sys.argv[2]), checkpoint_seconds=0)
"""


@pytest.mark.parametrize("write", [1, 5])
def test_a_kill_in_the_middle_of_writing_a_checkpoint_costs_one_step_at_most(
    write: int, make_config: Any, outcome: Any, tmp_path: Path
) -> None:
    import json

    config, checkpoint = make_config(), tmp_path / "checkpoint"
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, json.dumps(config.to_dict()), str(checkpoint), str(write)]
    killed = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert len(list(tmp_path.glob(".checkpoint.*"))) == 1
    assert checkpoint.exists() == (write > 1)
    if write > 1:
        state = torch.load(checkpoint, weights_only=True)
        assert (state["epoch"], state["step"]) == divmod(write - 1, 3)
    assert outcome(train(config, checkpoint=checkpoint)) == outcome(train(config))
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_checkpoint_is_told_and_the_run_begins_anew(make_config: Any, outcome: Any, tmp_path: Path) -> None:
    config, checkpoint = make_config(), tmp_path / "checkpoint"
    save_checkpoint({"key": config.key, "model": torch.zeros(1000)}, checkpoint)
    whole = checkpoint.read_bytes()
    for damaged in (b"", b"no checkpoint", whole[: len(whole) // 2], whole[:-1]):
        checkpoint.write_bytes(damaged)
        with pytest.warns(UserWarning, match="must be a checkpoint"):
            result = train(config, checkpoint=checkpoint)
        assert outcome(result) == outcome(train(config))


def test_checkpoints_are_written_no_more_often_than_asked(
    make_config: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    writes = itertools.count()
    monkeypatch.setattr(setsweep.trainables.checkpoint, "save_checkpoint", lambda state, path: next(writes))
    train(make_config(), checkpoint=tmp_path / "checkpoint", checkpoint_seconds=3600)
    assert next(writes) == 0
