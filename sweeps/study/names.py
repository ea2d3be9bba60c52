"""Names that become names of folders and records."""

from __future__ import annotations

import re

from setsweep.trainables.settings.rules import Rule


def name_rule(what: str) -> Rule:
    """A name of letters, digits, ``-`` and ``_``, at most 100 of them."""

    def check(value: object) -> object:
        if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", value):
            raise ValueError(f"must be {what} of letters, digits, - and _, got {value!r}.")
        return value

    return Rule("other", check)
