"""The report as a person sees it, in a frame that allows scripts and nothing else, as MLflow shows it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from setsweep.sweeps.reports.formats.html import text
from setsweep.sweeps.reports.report import Report

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="needs the programs chromium and chromedriver",
    ),
]


@pytest.fixture(params=[(1400, 900), (1000, 700)], ids=["wide", "narrow"])
def page(request: pytest.FixtureRequest, tmp_path: Path, report: Report) -> Iterator[Chrome]:
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    style = "width:100%;height:95vh;border:0"
    frame = f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(text(report))}"></iframe>'
    (tmp_path / "host.html").write_text(f'<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">{frame}')
    options = ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options, Service(shutil.which("chromedriver")))
    browser.set_window_size(*request.param)
    browser.get((tmp_path / "host.html").as_uri())
    browser.switch_to.frame(0)
    yield browser
    browser.quit()


def _texts(page: Chrome, css: str) -> list[str]:
    return [element.text for element in page.find_elements("css selector", css)]


def _choose(page: Chrome, select: str, text: str) -> None:
    from selenium.webdriver.support.select import Select

    Select(page.find_element("id", select)).select_by_visible_text(text)


def test_the_numbers_are_drawn_and_the_choices_change_them(page: Chrome) -> None:
    assert len(page.find_elements("css selector", "#drawing circle")) > 20
    before = _texts(page, "#numbers td")
    _choose(page, "baseline", "cross_entropy")
    after = _texts(page, "#numbers td")
    assert after != before
    assert any(cell.startswith("+") for cell in after)
    assert not any(cell.startswith("cross_entropy") for cell in after), "nothing is compared with itself"
    assert "not corrected" in page.find_element("id", "said").text
    _choose(page, "point", page.find_elements("css selector", "#point option")[1].text)
    assert 0 < len(_texts(page, "#numbers tbody tr")) < len(after)


def test_what_the_pointer_is_over_is_said(page: Chrome) -> None:
    from selenium.webdriver import ActionChains

    dot = page.find_element("css selector", "#drawing circle[fill-opacity]")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", dot)
    ActionChains(page).move_to_element(dot).perform()
    assert ", seed 100: " in page.find_element("id", "said").text


def test_a_click_on_a_heading_sorts_and_another_turns_it_round(page: Chrome) -> None:
    heading = page.find_elements("css selector", "h2 + .scroll table th")[1]
    column = "h2 + .scroll table:first-of-type tbody tr td:nth-child(2)"
    table = heading.find_element("xpath", "ancestor::table")

    def shown() -> list[float]:
        return [float(cell.text.split()[0]) for cell in table.find_elements("css selector", "tbody td:nth-child(2)")]

    assert _texts(page, column)
    heading.click()
    assert shown() == sorted(shown())
    heading.click()
    assert shown() == sorted(shown(), reverse=True)


def test_nothing_is_asked_for_and_nothing_goes_wrong(page: Chrome) -> None:
    _choose(page, "metric", page.find_elements("css selector", "#metric option")[0].text)
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
