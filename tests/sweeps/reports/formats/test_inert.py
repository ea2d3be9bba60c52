"""Texts of a study that come from elsewhere do nothing in what a report is opened with."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from setsweep.sweeps.reports.formats.csv import text as as_csv
from setsweep.sweeps.reports.formats.html import text as as_html
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Arm

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</title></style><iframe src=//evil>",
    "<!--",
    "]]>",
]


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest, make_study: Any, results: Any, failed: Any) -> Report:
    """A report in which a text stands wherever a study or a failure can put one."""
    text = request.param
    arms = {text: Arm(name=text, loss=text), "plain": Arm(name="plain", loss="x", fixed={"loss.kind": text})}
    odd = make_study(name=text, about=text, arms=arms, grid={"model.kind": (text,)}, compare=Compare(), search=None)
    pairs = results(odd)
    run = pairs[0][0]
    return build_report(odd, [(run, replace(failed(run), reason=text)), *pairs[1:]])


def test_a_page_has_no_tag_and_no_handler_but_its_own(hostile: Report, make_study: Any, results: Any) -> None:
    plain = make_study(search=None)
    own = {tag for tag, _ in _tags(as_html(build_report(plain, results(plain))))}
    found = _tags(as_html(hostile))
    assert {tag for tag, _ in found} <= own | {"ul", "li", "code", "b"}
    assert sum(tag == "script" for tag, _ in found) == sum(
        tag == "script" for tag, _ in _tags(as_html(build_report(plain, results(plain))))
    )
    assert not [name for _, names in found for name in names if name.startswith("on")]


@pytest.mark.parametrize("text", ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1"])
def test_a_cell_is_no_formula(make_study: Any, results: Any, text: str) -> None:
    arms = {text: Arm(name=text, loss="x", fixed={"loss.kind": text})}
    odd = make_study(arms=arms, grid={"model.kind": (text,)}, compare=Compare(), search=None)
    rows = [*csv.reader(io.StringIO(as_csv(build_report(odd, results(odd)))))]
    cells = {cell for row in rows[1:] for cell in row if text.strip() in cell}
    assert cells
    assert all(cell == f"'{text}" for cell in cells)


def _tags(page: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, [name for name, _ in attrs]))

    Reader().feed(page)
    return found
