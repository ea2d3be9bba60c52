"""``setsweep datasets``: the data sets, from their declarations."""

from __future__ import annotations

from setsweep.data import DATASETS
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.listings.listing import show_rows


def command(*, as_json: AsJson = False) -> int:
    """List the data sets, with settings and sources.

    Args:
        as_json: print them as JSON.
    """
    return show_rows("data", DATASETS, ("about", "settings", "source"), as_json=as_json)
