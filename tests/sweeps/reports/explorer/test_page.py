"""The part of the page that a script fills: inert text, nothing from outside, and small enough for many runs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from setsweep.sweeps.reports.explorer.page import script, section
from setsweep.sweeps.reports.formats.html import text
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.statistics.aggregates import Aggregate
from setsweep.sweeps.study.study import Arm

ROOM = 1_000_000  # bytes that the numbers of 2,000 runs may have, so that tables and figures have as many


def _data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    plain: dict[str, Any] = json.loads(found[1])
    return plain


def test_the_page_has_its_numbers_and_one_script_at_its_end(report: Report) -> None:
    page = text(report)
    assert _data(page)["rows"]
    assert page.endswith(f"{script()}</body>\n</html>\n")


def test_without_scripts_the_section_is_not_seen(report: Report) -> None:
    assert '<section id="explorer" hidden>' in section(report)


def test_a_report_without_a_confirmation_has_no_such_section(study: Any) -> None:
    page = text(build_report(study, []))
    assert 'id="explorer"' not in page
    assert page.endswith(f"{script()}</body>\n</html>\n"), "its tables are sorted all the same"


def test_names_of_a_study_end_neither_the_data_nor_the_page(report: Report) -> None:
    name = "</script><script>alert(1)</script><!--"
    arms = {name: Arm(name=name, loss="cross_entropy")}
    renamed = [
        replace(each, candidate=replace(each.candidate, arm=name)) for each in report.aggregates if each.arm == "avgk"
    ]
    odd = replace(report, study=replace(report.study, arms=arms), aggregates=tuple(renamed))
    shown = section(odd)
    assert {row["arm"] for row in _data(shown)["rows"]} == {name}
    assert shown.count("</script") == 1


def test_the_script_asks_for_no_storage_and_no_network() -> None:
    assert not re.search(
        r"localStorage|sessionStorage|cookie|fetch\(|XMLHttp|WebSocket|import\(|https?://(?!www\.w3)", script()
    )
    assert "innerHTML" not in script(), "text is never read as markup"


def test_a_report_of_two_thousand_runs_leaves_room_for_tables_and_figures(report: Report) -> None:
    """50 arms at 4 points with 10 seeds each, 40 metrics."""
    known = next(each for each in report.aggregates if each.stage == "confirm" and each.metric == report.study.primary)
    arms = {f"arm{number}": Arm(name=f"arm{number}", loss="avgk") for number in range(50)}
    study = replace(report.study, arms=arms, grid={"data.label_noise": (0.0, 0.1, 0.2, 0.3)})
    metrics = [
        f"{split}/avg{k}_{what}" for split in ("val", "test") for k in range(1, 11) for what in ("accuracy", "set_size")
    ]
    aggregates: list[Aggregate] = []
    for arm in arms:
        for point in study.points():
            candidate = replace(known.candidate, arm=arm, point=point)
            values = {seed: 0.912345 + 0.00001 * seed for seed in range(10)}
            one = replace(known, candidate=candidate, seeds=tuple(values), values=values, failed={})
            aggregates += [replace(one, metric=metric) for metric in metrics]
    shown = section(replace(report, study=study, aggregates=tuple(aggregates)))
    assert len(_data(shown)["rows"]) == 200
    assert len(shown.encode()) + len(script()) < ROOM
