"""``setsweep datasets``: the data sets, from their declarations."""

from __future__ import annotations

from setsweep.data import DATASETS
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import plain_settings, settings, table
from setsweep.sweeps.study.text.json_text import json_text


def command(*, as_json: AsJson = False) -> int:
    """List the data sets, with settings and sources.

    Args:
        as_json: print them as JSON.
    """
    if as_json:
        plain = [
            {"name": name, "about": each.about, "settings": plain_settings("data", name), "source": each.source}
            for name, each in DATASETS.items()
        ]
        print(json_text(plain), end="")
        return DONE
    rows = [(name, each.about, settings("data", name) or "-", each.source) for name, each in DATASETS.items()]
    print(table(("data set", "what it is", "settings", "source"), rows))
    return DONE
