"""What is said where there is no work: by the planner, by the groups of seeds, and by the mailbox to a slot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wait:
    """There is none now, but there may be some later: ask again."""


@dataclass(frozen=True)
class Done:
    """There is none left, and there will be no more."""
