"""Asking before something is lost."""

from __future__ import annotations

import sys


def agreed(question: str, *, yes: bool) -> bool:
    """Whether the user wants it: by ``--yes``, or by an answer on the terminal.

    Args:
        question: without its end.
        yes: what ``--yes`` was.

    Raises:
        ValueError: there is no terminal to ask on.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ValueError("--yes must be given where there is no terminal to ask on, got none.")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
