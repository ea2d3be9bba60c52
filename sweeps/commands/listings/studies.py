"""``setsweep studies``: the bundled studies."""

from __future__ import annotations

from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import table
from setsweep.sweeps.study.reader import read_bundled
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.sweeps.study.text.source import bundled_studies


def command(*, as_json: AsJson = False) -> int:
    """List the bundled studies, with what they are about.

    Args:
        as_json: print them as JSON.
    """
    read = [read_bundled(name) for name in bundled_studies()]
    if as_json:
        plain = [{"name": s.name, "about": s.about, "data": s.data["name"], "arms": list(s.arms)} for s in read]
        print(json_text(plain), end="")
        return DONE
    print(
        table(
            ("study", "data", "arms", "about"),
            [(s.name, str(s.data["name"]), ", ".join(s.arms), s.about) for s in read],
        )
    )
    return DONE
