"""``setsweep studies``: the bundled studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import entry
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.sweeps.study.text.source import bundled_studies, open_bundled, read_source


def command(*, as_json: AsJson = False) -> int:
    """List the bundled studies, with what they are about.

    Args:
        as_json: print them as JSON.
    """
    found = {name: read_source(*open_bundled(name)).values for name in bundled_studies()}
    plain = [
        {"name": name, "about": given["about"], "data": given["data"]["name"], "arms": list(given["arms"])}
        for name, given in found.items()
    ]
    if as_json:
        print(json_text(plain), end="")
        return DONE
    print("\n\n".join(entry(each["name"], _paragraphs(each)) for each in plain))
    return DONE


def _paragraphs(plain: Mapping[str, Any]) -> list[str]:
    return [plain["about"], f"On {plain['data']}: {', '.join(plain['arms'])}"]
