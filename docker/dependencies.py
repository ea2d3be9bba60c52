"""Prints what a package needs, a line each, so that an image can install it before the package itself is there."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path


def dependencies(pyproject: Path, extras: list[str]) -> Iterator[str]:
    """The requirements of a pyproject.toml and of some of its extras.

    Raises:
        KeyError: it has no such extra.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    yield from project["dependencies"]
    for extra in extras:
        yield from project["optional-dependencies"][extra]


if __name__ == "__main__":
    print(*dependencies(Path(sys.argv[1]), sys.argv[2:]), sep="\n")
