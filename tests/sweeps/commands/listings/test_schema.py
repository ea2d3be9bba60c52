from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from setsweep.sweeps.study.schema.study import study_schema


def test_the_schema_is_printed_as_json_with_sorted_keys(setsweep: Callable[..., Any]) -> None:
    said = setsweep("schema")
    assert (said.code, said.err) == (0, "")
    printed = json.loads(said.out)
    assert printed == study_schema()
    assert said.out == json.dumps(printed, indent=1, sort_keys=True) + "\n"


def test_the_schema_is_small_enough_for_an_editor_to_read_at_every_start(setsweep: Callable[..., Any]) -> None:
    assert len(setsweep("schema").out) < 250_000
