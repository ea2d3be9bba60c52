"""The table of threats in docker/README.md names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
README = TESTS.parent / "docker" / "README.md"


def test_every_row_names_a_test_that_is_there() -> None:
    table = README.read_text().partition("## Who may do what")[2].partition("**Not stopped**")[0]
    rows = [line for line in table.splitlines() if line.startswith("|")][2:]
    there = {path.name for path in TESTS.rglob("test_*.py")}
    assert len(rows) > 10
    for row in rows:
        named = re.findall(r"`(test_\w+\.py)`", row.rstrip("| ").rpartition("|")[2])
        assert named, row
        assert set(named) <= there, row
