"""Names that become names of folders and records."""

from __future__ import annotations

from setsweep.trainables.settings.rules import Rule, spelled


def name_rule(what: str) -> Rule:
    """A name of letters, digits, ``-`` and ``_``, at most 100 of them."""
    return spelled(r"[A-Za-z0-9_-]{1,100}", f"{what} of letters, digits, - and _")
