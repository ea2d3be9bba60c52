"""``setsweep models``: the models, from their declarations."""

from __future__ import annotations

from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.listings.listing import show_rows
from setsweep.trainables.models.table import MODELS


def command(*, as_json: AsJson = False) -> int:
    """List the models, with settings.

    Args:
        as_json: print them as JSON.
    """
    return show_rows("model", MODELS, ("about", "settings"), as_json=as_json)
