"""A report in every format."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.reports.formats import FORMATS, check_format, render
from setsweep.sweeps.reports.report import Report, build_report


def test_a_format_is_a_module_by_its_name() -> None:
    assert FORMATS == ("csv", "html", "json", "latex", "markdown", "terminal")


@pytest.mark.parametrize("form", FORMATS)
def test_equal_results_give_equal_text_whatever_their_order(study: Any, results: Any, form: str) -> None:
    runs = results(study)
    assert render(build_report(study, runs), form) == render(build_report(study, runs[::-1]), form)


@pytest.mark.parametrize("form", FORMATS)
def test_a_study_without_any_run_can_be_shown(study: Any, form: str) -> None:
    assert render(build_report(study, []), form).strip()


@pytest.mark.parametrize("form", FORMATS)
def test_the_values_of_a_grid_may_be_lists_and_mappings(make_study: Any, results: Any, form: str) -> None:
    """Those of a user's own data."""
    study = make_study(grid={"data.sizes": ([1], {"a": 2})})
    assert render(build_report(study, results(study)), form).strip()


@pytest.mark.parametrize("form", ["pdf", "__init__", "JSON", ""])
def test_an_unknown_format_is_refused_with_the_known_ones(report: Report, form: str) -> None:
    message = f"^format must be one of csv, html, json, latex, markdown, terminal, got '{form}'.$"
    with pytest.raises(ValueError, match=message):
        check_format(form)
    with pytest.raises(ValueError, match=message):
        render(report, form)
