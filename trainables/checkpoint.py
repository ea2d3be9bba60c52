"""Checkpoints that a kill in the middle of writing can't spoil: written beside the old one, then renamed over it."""

from __future__ import annotations

import os
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
    """The state written to `path` by the run with this key, or None where there is none of it."""
    if not path.exists():
        return None
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state if state.get("key") == key else None
