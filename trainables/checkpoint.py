"""Checkpoints that a kill in the middle of writing can't spoil: written beside the old one, then renamed over it."""

from __future__ import annotations

import glob
import io
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from setsweep.trainables.places import AnyPath

WRITING_SHARE = 0.02  # of the time is spent on writing checkpoints, at most


class Interrupted(BaseException):
    """A run was asked to stop, and has written its checkpoint, if it has one. No error, which something would catch."""


@dataclass
class Saver:
    """Writes the checkpoint of a run when it is due.

    Args:
        path: of the checkpoint; None: none is ever due.
        every: seconds from one to the next, or more where writing takes so long that it would cost more than
            `WRITING_SHARE` of the time; 0: one is due after every step, whatever it costs.
        key: of the run.
        clock: in seconds.
        stop: asked after every step; once it says so, the run stops there.
    """

    path: AnyPath | None
    every: float
    key: str
    clock: Callable[[], float] = time.monotonic
    stop: Callable[[], bool] = lambda: False
    _due: float = field(init=False)

    def __post_init__(self) -> None:
        self._due = self.clock() + self.every

    def maybe(self, state: Callable[[], dict[str, Any]]) -> None:
        """Write the state if a checkpoint is due; else the state is not asked for, which may wait for a GPU.

        Raises:
            Interrupted: see `stop_if_asked`.
        """
        self.stop_if_asked(state)
        if self.path is None or (started := self.clock()) < self._due:
            return
        try:
            save_checkpoint({"key": self.key, **state()}, self.path)
        except OSError as error:
            if isinstance(self.path, Path):
                raise
            warnings.warn(f"{self.path} can't be written now, the run goes on: {error.strerror}.", stacklevel=2)
        written = self.clock()
        wait = max(self.every, (written - started) / WRITING_SHARE) if self.every else 0.0
        self._due = written + wait

    def stop_if_asked(self, state: Callable[[], dict[str, Any]]) -> None:
        """Write the state where the run is to stop, and not else.

        Raises:
            Interrupted: it is.
        """
        if self.stop():
            if self.path is not None:
                save_checkpoint({"key": self.key, **state()}, self.path)
            raise Interrupted


def save_checkpoint(state: dict[str, Any], path: AnyPath) -> None:
    """Write `state` to `path` so that at any moment `path` holds a whole checkpoint or none."""
    if not isinstance(path, Path):
        content = io.BytesIO()
        torch.save(state, content)
        path.write_bytes(content.getvalue())
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)  # half a checkpoint on a full disk would keep it full
        raise


def load_checkpoint(path: AnyPath, *, key: str) -> dict[str, Any] | None:
    """The state written to `path` by the run with this key, or None where there is none of it.

    A file that can't be read costs the time that it would have saved, not the run: it is None too, with a warning.
    """
    if not path.exists():
        return None
    try:
        source = path if isinstance(path, Path) else io.BytesIO(path.read_bytes())
        state: dict[str, Any] = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001 - a damaged file can raise anything
        warnings.warn(f"{path} must be a checkpoint, got {error!r}; the run begins anew.", stacklevel=2)
        return None
    return state if isinstance(state, dict) and state.get("key") == key else None


def remove_checkpoint(path: AnyPath) -> None:
    """Remove the checkpoint at `path`, if any, and what kills in the middle of writing it left beside it."""
    if not isinstance(path, Path):
        path.unlink(missing_ok=True)
        return
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*"):
        partial.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
