"""Plain data as JSON that every reader takes: no NaN, which JSON has not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(plain: Any) -> str:
    """A line for each entry of what stands in the outermost list or mapping, and what is within it in that line.

    Numbers that are none are null, keys are text; a line's end is at its end. (Python writes JSON that is indented
    throughout ten times slower.)
    """
    return _lines(plain, "", depth=2) + "\n"


def _lines(plain: Any, margin: str, *, depth: int) -> str:
    inner = margin + "  "
    if depth and plain and isinstance(plain, Mapping):
        entries = [f"{inner}{_line(str(name))}: {_lines(each, inner, depth=depth - 1)}" for name, each in plain.items()]
        return "{\n" + ",\n".join(entries) + f"\n{margin}}}"
    if depth and plain and isinstance(plain, list | tuple):
        entries = [f"{inner}{_lines(each, inner, depth=0)}" for each in plain]
        return "[\n" + ",\n".join(entries) + f"\n{margin}]"
    return _line(plain)


def _line(plain: Any) -> str:
    try:
        return _ENCODER.encode(plain)
    except ValueError:  # a number that is none
        return _ENCODER.encode(_without_nan(plain))


def _without_nan(plain: Any) -> Any:
    if isinstance(plain, Mapping):
        return {name: _without_nan(value) for name, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_without_nan(value) for value in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=dict)
