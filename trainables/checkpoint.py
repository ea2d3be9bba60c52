"""Checkpoints that a kill in the middle of writing can't spoil: written beside the old one, then renamed over it."""

from __future__ import annotations

import glob
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import torch


def save_checkpoint(state: dict[str, Any], path: Path) -> None:
    """Write `state` to `path` so that at any moment `path` holds a whole checkpoint or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def load_checkpoint(path: Path, *, key: str) -> dict[str, Any] | None:
    """The state written to `path` by the run with this key, or None where there is none of it.

    A file that can't be read costs the time that it would have saved, not the run: it is None too, with a warning.
    """
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        warnings.warn(f"{path} must be a checkpoint, got {error!r}; the run begins anew.", stacklevel=2)
        return None
    return state if state.get("key") == key else None


def remove_checkpoint(path: Path) -> None:
    """Remove the checkpoint at `path`, if any, and what kills in the middle of writing it left beside it."""
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*"):
        partial.unlink(missing_ok=True)
    path.unlink(missing_ok=True)
