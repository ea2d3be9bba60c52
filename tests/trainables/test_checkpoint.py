"""Checkpoints on disk."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.trainables.checkpoint import Saver, load_checkpoint, remove_checkpoint, save_checkpoint


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
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("damage", [b"", b"0 (", b"\x85" * 50, b"PK\x03\x04 and no more"])
def test_a_damaged_checkpoint_is_none_with_a_warning(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(damage)
    with pytest.warns(UserWarning, match="must be a checkpoint"):
        assert load_checkpoint(path, key="a") is None


def test_a_file_of_something_else_is_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    torch.save(torch.zeros(3), path)
    assert load_checkpoint(path, key="a") is None


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


class Clock:
    """A clock that goes on only when something takes time."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _writes(every: float, *, step: float, writing: float, steps: int, path: Path) -> list[int]:
    """The steps after which a checkpoint was written, where a step and a writing take so many seconds."""
    clock = Clock()
    saver = Saver(path, every, "a", clock)
    written: list[int] = []

    def state(number: int) -> dict[str, Any]:
        clock.now += writing
        written.append(number)
        return {}

    for number in range(1, steps + 1):
        clock.now += step
        saver.maybe(partial(state, number))
    return written


def test_a_checkpoint_is_written_when_it_is_due_and_not_before(tmp_path: Path) -> None:
    assert _writes(60, step=7, writing=0, steps=30, path=tmp_path / "checkpoint") == [9, 18, 27]
    assert load_checkpoint(tmp_path / "checkpoint", key="a") == {"key": "a"}


def test_writing_that_takes_long_becomes_rarer_so_that_it_costs_a_fiftieth_of_the_time(tmp_path: Path) -> None:
    # by hand: written after 60 s; then 3 s / 0.02 = 150 s later, and so on
    assert _writes(60, step=10, writing=3, steps=60, path=tmp_path / "checkpoint") == [6, 21, 36, 51]


def test_where_no_time_is_to_pass_a_checkpoint_is_written_after_each_step_whatever_it_costs(tmp_path: Path) -> None:
    assert _writes(0, step=1, writing=100, steps=4, path=tmp_path / "checkpoint") == [1, 2, 3, 4]


def test_without_a_path_nothing_is_written() -> None:
    Saver(None, 0, "a").maybe(lambda: pytest.fail("the state was asked for"))
