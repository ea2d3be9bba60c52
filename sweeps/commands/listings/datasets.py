"""``setsweep datasets``: the data sets, from their declarations."""

from __future__ import annotations

from setsweep.data import DATASETS
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import settings, table


def command() -> int:
    """List the data sets, with settings and sources."""
    rows = [(name, each.about, settings("data", name) or "-", each.source) for name, each in DATASETS.items()]
    print(table(("data set", "what it is", "settings", "source"), rows))
    return DONE
