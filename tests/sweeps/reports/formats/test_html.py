"""A report as one HTML file."""

from __future__ import annotations

import base64
import io
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from PIL import Image

from setsweep.sweeps.reports.formats.html import MOST, text
from setsweep.sweeps.reports.panels import add_title, panels, save
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Arm


def test_a_page_is_well_formed_and_needs_no_other_file(make_study: Any, results: Any) -> None:
    odd = make_study(name="<b>&", arms={"<i>": Arm(name="<i>", loss="x")}, compare=Compare(), search=None)
    shown = text(build_report(odd, results(odd)))
    open_tags: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            assert not any(name in ("src", "href") for name, _ in attrs)
            if tag != "meta":
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Checker().feed(shown)
    assert open_tags == []
    assert "&lt;i&gt;" in shown
    assert "<h1>&lt;b&gt;&amp;</h1>" in shown


def test_text_is_aligned_left_and_the_best_is_bold(report: Report) -> None:
    table = text(report).split("<h2>")[1]
    assert '<th scope="col" class="text">arm</th><th scope="col">top-2 (%)</th>' in table
    assert re.search(r'<tr><td class="text">avgk</td><td><b>95\.\d\d ± 0\.\d\d</b></td>', table)
    assert '<td class="text">alpha = 0.4</td></tr>' in table


def test_name_question_state_and_sentences_are_paragraphs(report: Report, make_study: Any) -> None:
    shown = text(report)
    assert "<title>fashion_losses</title>" in shown
    assert "<p>Which loss gives the best pairs?</p>\n<p>Complete. 46 runs: 46 done.</p>" in shown
    assert shown.count('<p class="notes">') == 8
    assert "<h1>fashion_losses</h1>\n<p>Incomplete." in text(build_report(make_study(about=""), []))


def test_figures_are_inside_with_their_title_below_them_and_for_those_who_do_not_see_them(
    report: Report, tmp_path: Path
) -> None:
    drawn, _ = panels(1, columns=1, width=2, height=1)
    add_title(drawn, ["demo", "α < 2"])
    figure = save(drawn, tmp_path / "metrics-1.png")
    assert "<img" not in text(report)
    shown = "demo, α &lt; 2"
    page = text(report, [figure])
    (data,) = re.findall(
        f'<figure><img alt="{shown}" src="data:image/webp;base64,([^"]+)"><figcaption>{shown}</figcaption></figure>',
        page,
    )
    with Image.open(figure) as drawn_once, Image.open(io.BytesIO(base64.b64decode(data))) as inside:
        assert inside.convert("RGB").tobytes() == drawn_once.convert("RGB").tobytes()


def test_figures_without_room_on_the_page_are_named(report: Report, tmp_path: Path) -> None:
    """Noise, of which a picture can't be made smaller: a page takes the first three or four of ten."""
    size = (400, 400)
    figures = [tmp_path / f"noise-{number}.png" for number in range(10)]
    for number, path in enumerate(figures):
        Image.frombytes("RGB", size, random.Random(number).randbytes(3 * 400 * 400)).save(path)
    page = text(report, figures)
    assert len(page) < MOST
    inside = page.count("<figure>")
    assert inside >= 2
    assert f"Further figures, beside this page: {', '.join(each.name for each in figures[inside:])}." in page
