"""Checkpoints on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from trainables.checkpoint import load_checkpoint, remove_checkpoint, save_checkpoint


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "checkpoint"
    save_checkpoint({"key": "a", "weights": torch.arange(3.0), "nested": {"epochs": [1, 2]}, "none": None}, path)
    state = load_checkpoint(path, key="a")
    assert state is not None
    assert torch.equal(state.pop("weights"), torch.arange(3.0))
    assert state == {"key": "a", "nested": {"epochs": [1, 2]}, "none": None}
    assert list(path.parent.iterdir()) == [path]


def test_there_is_no_checkpoint_of_another_run_or_where_there_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    assert load_checkpoint(path, key="a") is None
    save_checkpoint({"key": "a"}, path)
    assert load_checkpoint(path, key="b") is None


def test_a_write_that_fails_leaves_the_old_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    save_checkpoint({"key": "a", "step": 1}, path)
    with pytest.raises(Exception, match="pickle"):
        save_checkpoint({"key": "a", "step": lambda: 2}, path)
    assert load_checkpoint(path, key="a") == {"key": "a", "step": 1}


def test_a_checkpoint_runs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    save_checkpoint({"key": "a", "code": print}, path)
    with pytest.warns(UserWarning, match="must be a checkpoint"):
        assert load_checkpoint(path, key="a") is None


def test_removing_takes_the_leftovers_of_kills_along_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "run[1]"
    save_checkpoint({"key": "a"}, path)
    (tmp_path / ".run[1].123").write_bytes(b"half a che")
    (tmp_path / ".run1.123").write_bytes(b"another's")
    (tmp_path / "run[2]").write_bytes(b"another's")
    remove_checkpoint(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".run1.123", "run[2]"]
    remove_checkpoint(path)
