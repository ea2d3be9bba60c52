"""``setsweep losses``: the losses, from their declarations."""

from __future__ import annotations

from setsweep.losses import LOSSES
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import plain_settings, settings, table
from setsweep.sweeps.study.text.json_text import json_text


def command(*, as_json: AsJson = False) -> int:
    """List the losses, with hyperparameters, ranges and papers.

    Args:
        as_json: print them as JSON.
    """
    if as_json:
        plain = [
            {"name": name, "about": loss.about, "hyperparameters": plain_settings("loss", name), "paper": loss.paper}
            for name, loss in LOSSES.items()
        ]
        print(json_text(plain), end="")
        return DONE
    rows = [(name, loss.about, settings("loss", name) or "-", loss.paper) for name, loss in LOSSES.items()]
    print(table(("loss", "good for", "hyperparameters", "paper"), rows))
    return DONE
