"""What a look at one thing has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["well", "note", "wrong"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the doctor's.

    Args:
        of: what was looked at.
        state: "well"; "note": a study runs, but not as one may think; "wrong": it does not.
        said: what was found.
        mend: what to do, where that is known.
    """

    of: str
    said: str
    state: State = "well"
    mend: str = ""
