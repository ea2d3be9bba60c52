"""What has changed between two studies of the same name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from setsweep.sweeps.study.study import Study
from setsweep.trainables.settings.yaml_text import read_yaml


def describe_difference(old: Study | Mapping[str, Any] | str, new: Study | Mapping[str, Any] | str) -> list[str]:
    """The fields in which two studies differ, e.g. "training.epochs: 10 before, 3 now".

    Args:
        old: a study or its protocol: then only that counts, defaults filled in. Or its YAML text: then every field that
            is given.
        new: likewise.
    """
    before, now = _fields(old), _fields(new)
    names = [*before, *(name for name in now if name not in before)]
    return [
        f"{name}: {before.get(name, 'nothing')} before, {now.get(name, 'nothing')} now"
        for name in names
        if before.get(name) != now.get(name)
    ]


def _fields(side: Study | Mapping[str, Any] | str) -> dict[str, str]:
    if isinstance(side, str):
        return dict(_flat(read_yaml(side)[0]))
    return dict(_flat(side.protocol() if isinstance(side, Study) else side))


def _flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Every value as text by its dotted path."""
    flat: dict[str, str] = {}
    for key, value in plain.items():
        inner = isinstance(value, Mapping) and value
        flat |= _flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": json.dumps(value)}
    return flat
