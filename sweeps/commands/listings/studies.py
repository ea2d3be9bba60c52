"""``setsweep studies``: the bundled studies."""

from __future__ import annotations

from importlib import resources

from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import table
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.source import bundled_studies


def command() -> int:
    """List the bundled studies, with what they are about."""
    read = []
    for name in bundled_studies():
        with resources.as_file(resources.files("setsweep.sweeps") / "studies" / f"{name}.yaml") as path:
            read.append(read_study(path))
    print(
        table(
            ("study", "data", "arms", "about"),
            [(s.name, str(s.data["name"]), ", ".join(s.arms), s.about) for s in read],
        )
    )
    return DONE
