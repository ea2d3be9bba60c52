"""The clock of a machine beside that of a server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from setsweep.sweeps.commands.health.finding import Finding

WRONG_SECONDS = 30.0  # an answer's date is in whole seconds, and may have come late


def compare_clock(whose: str, date: str | None) -> Iterator[Finding]:
    """Compare with the date of an HTTP answer that has just come; nothing where it has none."""
    try:
        theirs = parsedate_to_datetime(date or "").timestamp()
    except ValueError:
        return
    ahead = time.time() - theirs
    if abs(ahead) > WRONG_SECONDS:
        said = f"this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} that of {whose}."
        mend = "Have both set by NTP; results are right all the same, but times in records are not."
        yield Finding(of="clock", state="note", said=said, mend=mend)
    else:
        yield Finding(of="clock", said=f"that of {whose} agrees")
