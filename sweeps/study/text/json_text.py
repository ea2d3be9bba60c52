"""Plain data as JSON that every reader takes: no NaN, which JSON has not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(plain: Any) -> str:
    """Indented, with a line's end at its end; numbers that are none are null, keys are text."""
    return json.dumps(_without_nan(plain), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _without_nan(plain: Any) -> Any:
    if isinstance(plain, Mapping):
        return {str(name): _without_nan(value) for name, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_without_nan(value) for value in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
