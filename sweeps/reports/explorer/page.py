"""The part of report.html that answers questions. Without scripts it isn't seen, and the rest reads as it stands."""

from __future__ import annotations

import json
from importlib import resources

from setsweep.sweeps.reports.explorer.numbers import numbers
from setsweep.sweeps.reports.report import Report

STYLE = """
#explorer select { font: inherit; margin: 0 1rem .5rem .3rem; max-width: 24rem; }
#explorer svg { display: block; width: 100%; height: auto; }
#explorer svg text { font: 13px system-ui, sans-serif; fill: #222; }
#explorer [tabindex]:focus { outline: 2px solid #0072B2; }
#said { min-height: 1.5em; color: #555; }
th[aria-sort] { cursor: pointer; }
th[aria-sort="ascending"]::after { content: " ▲"; }
th[aria-sort="descending"]::after { content: " ▼"; }
"""


def section(report: Report) -> str:
    """Choices, a drawing and a table, all filled by the script; empty where nothing is confirmed yet."""
    plain = numbers(report)
    if not plain["rows"]:
        return ""
    # "</script" in a name would end the data.
    data = json.dumps(plain, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<section id="explorer" hidden>\n<h2>Seed by seed</h2>\n<p>'
        '<label>metric<select id="metric"></select></label>'
        '<label>minus<select id="baseline"></select></label>'
        '<label>grid point<select id="point"></select></label></p>\n'
        '<div id="drawing"></div>\n<p id="said" role="status"></p>\n<div class="scroll" id="numbers"></div>\n'
        "</section>\n"
        f'<script type="application/json" id="data">{data}</script>\n'
    )


def script() -> str:
    """The script, for the end of the page: it sorts every table, and fills the section where there is one."""
    source = (resources.files("setsweep.sweeps.reports.explorer") / "explorer.js").read_text(encoding="utf-8")
    return f"<script>\n{source}</script>\n"
