"""``setsweep losses``: the losses, from their declarations."""

from __future__ import annotations

from setsweep.losses import LOSSES
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.listings.listing import show_rows


def command(*, as_json: AsJson = False) -> int:
    """List the losses, with hyperparameters, ranges and papers.

    Args:
        as_json: print them as JSON.
    """
    return show_rows("loss", LOSSES, ("about", "hyperparameters", "paper"), as_json=as_json)
