"""``setsweep losses``: the losses, from their declarations."""

from __future__ import annotations

from setsweep.losses import LOSSES
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import settings, table


def command() -> int:
    """List the losses, with hyperparameters, ranges and papers."""
    rows = [(name, loss.about, settings("loss", name) or "-", loss.paper) for name, loss in LOSSES.items()]
    print(table(("loss", "good for", "hyperparameters", "paper"), rows))
    return DONE
