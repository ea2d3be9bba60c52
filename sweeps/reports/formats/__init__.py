"""A report in every format: each module here is one, by its name, with a function ``text`` of a report.

Equal results give equal text; that for a terminal depends on the terminal's width as well.
"""

from __future__ import annotations

import importlib
import pkgutil

from setsweep.sweeps.reports.report import Report

FORMATS = tuple(module.name for module in pkgutil.iter_modules(__path__))


def check_format(form: str) -> None:
    """Raise ValueError for a format that there is none of."""
    if form not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {form!r}.")


def render(report: Report, form: str) -> str:
    """The report in one of the formats.

    Raises:
        ValueError: an unknown format.
    """
    check_format(form)
    text: str = importlib.import_module(f"{__name__}.{form}").text(report)
    return text
