"""What has changed between two studies of the same name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def describe_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The fields in which two protocols differ (see `Study.protocol`), e.g. "training.epochs: 10 before, 3 now"."""
    before, now = flat(old), flat(new)
    names = [*before, *(name for name in now if name not in before)]
    return [
        f"{name}: {before.get(name, 'nothing')} before, {now.get(name, 'nothing')} now"
        for name in names
        if before.get(name) != now.get(name)
    ]


def flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Every value as text by its dotted path."""
    found: dict[str, str] = {}
    for key, value in plain.items():
        inner = isinstance(value, Mapping) and value
        found |= flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": json.dumps(value)}
    return found
