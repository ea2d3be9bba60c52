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
    columns = {"name": "data set", "about": "what it is", "settings": "settings", "source": "source"}
    return show_rows("data", DATASETS, columns, as_json=as_json)
