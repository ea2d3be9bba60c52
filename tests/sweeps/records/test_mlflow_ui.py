"""The MLflow UI as a person sees it: a real browser at 1400 x 900 and 1000 x 700, and what stands in its window."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from setsweep.sweeps.records.mlflow_address import CURVES, FAILURES, RESULTS, SEEDS, TREE, view_path
from setsweep.sweeps.records.mlflow_pages.page import build_page
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.study.study import Study

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

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAME_CELL = '[col-id="attributes.`Run Name`"]'
CLOSE_ASSISTANT = """
    const close = [...document.querySelectorAll("button")].find(each =>
        (each.getAttribute("data-component-id") || "").includes("assistant")
        && (each.getAttribute("aria-label") || "").toLowerCase().includes("close"))
    if (close) close.click()
"""
EXPANDER = f'{NAME_CELL} button[data-component-id*="runnamecellrenderer"]'
SIZES = {"wide": (1400, 900), "narrow": (1000, 700)}  # pixels of the window
PATIENCE = 90  # seconds for a page on a busy machine


@pytest.fixture
def server(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    study: Study,
    groups: list[Any],
    make_pair: Callable[..., Any],
) -> Iterator[str]:
    """The address of an MLflow server on a store with a finished study; one run has diverged."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    recorder = MlflowRecorder(study)
    recorder.start()
    for group in groups:
        for planned, result in group:
            recorder.record(planned, result)
        recorder.group(group)
    recorder.record(*make_pair("focal", 0.2, 99, status="diverged"))
    pairs = [pair for group in groups for pair in group]
    page = build_page(build_report(study, pairs))
    recorder.finish("tables", page=page)
    assert recorder.close(patience=PATIENCE), recorder.problem
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", "sqlite:///mlflow.db"]
    with (tmp_path / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--workers", "1", "--port", str(port)],
            stdout=log,
            stderr=log,
            env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}/"
    try:
        _until(lambda: _answers(address))
        yield address
    finally:
        os.killpg(process.pid, 15)
        process.wait(timeout=PATIENCE)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Chrome]:
    """A browser that knows nothing yet, with a wide window."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium")
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    _resize(chrome, "wide")
    yield chrome
    chrome.quit()


def test_the_results_are_read_at_a_glance(server: str, browser: Chrome, study: Study, tmp_path: Path) -> None:
    _open(browser, server, study, RESULTS)
    _until(lambda: len(_names(browser)) == 4)
    browser.save_screenshot(str(tmp_path / "results-wide.png"))
    names, texts = _names(browser), _cells(browser, "tags.`top-2`")

    assert {name.split()[1] for name in names[:2]} == {"label_noise=0"}  # in the order of the grid
    assert {name.split()[1] for name in names[2:]} == {"label_noise=0.2"}
    means = [float(text.split()[0]) for text in texts]
    assert means[0] > means[1]  # the best of a point first
    assert means[2] > means[3]
    assert all(re.fullmatch(r"\d+\.\d\d (± \d+\.\d\d|\[.*\])", text) for text in texts)
    assert _cells(browser, "tags.`runs`") == ["3 of 3"] * 4
    assert _seen(browser, *texts[:1], "3 of 3")
    assert "is best in top-2" in _text(browser) or "Best in top-2" in _text(browser)  # the page's first line

    _resize(browser, "narrow")
    _until(lambda: len(_names(browser)) == 4)
    browser.save_screenshot(str(tmp_path / "results-narrow.png"))
    assert _seen(browser, *_cells(browser, "tags.`top-2`")[:1])


def test_the_views_are_in_the_menu_and_their_charts_are_those_that_were_prepared(
    server: str, browser: Chrome, study: Study, tmp_path: Path
) -> None:
    _open(browser, server, study, CURVES)
    _until(lambda: "Curves with intervals (2)" in " ".join(_text(browser).split()))  # loss and top-2, no others
    _until(lambda: len(browser.find_elements("css selector", ".js-plotly-plot")) >= 2)
    browser.save_screenshot(str(tmp_path / "curves.png"))
    assert "cross_entropy label_noise=0 (val/top2_accuracy/ci_low)" in _text(browser)  # in the chart of the mean

    browser.find_element("css selector", '[data-testid="saved-views-trigger"]').click()
    _until(lambda: "Failures" in _text(browser))
    browser.save_screenshot(str(tmp_path / "menu.png"))
    assert _seen(browser, "Results", "Curves with intervals", "Seeds", "Failures", "Tree")

    _open(browser, server, study, SEEDS)
    _until(lambda: "Group by: arm" in _text(browser))
    _until(lambda: "13 matching runs" in _text(browser))  # the seeds, and none of the rows above them
    browser.save_screenshot(str(tmp_path / "seeds.png"))


def test_the_tree_has_no_seeds_and_failures_have_their_reason(
    server: str, browser: Chrome, study: Study, tmp_path: Path
) -> None:
    _open(browser, server, study, TREE)
    _until(lambda: _names(browser) == ["which-loss"])
    _expand(browser, 0)
    _until(lambda: len(_names(browser)) == 1 + 4)
    browser.save_screenshot(str(tmp_path / "tree.png"))
    assert not [name for name in _names(browser) if "seed" in name]

    _open(browser, server, study, FAILURES)
    _until(lambda: len(_names(browser)) == 1)
    browser.save_screenshot(str(tmp_path / "failures.png"))
    assert _names(browser) == ["focal label_noise=0.2 seed 99"]
    assert _cells(browser, "tags.`reason`") == ["training loss must be finite, got nan in epoch 2."]


def test_the_studys_page_has_its_tables_with_columns_apart(
    server: str, browser: Chrome, study: Study, tmp_path: Path
) -> None:
    _open(browser, server, study, RESULTS)
    expand = '[data-component-id="mlflow.experiment.metadata_editor.expand_button"]'
    _until(lambda: bool(browser.find_elements("css selector", expand)))
    browser.find_element("css selector", expand).click()
    _until(lambda: "Test results, data.label_noise = 0" in _text(browser))
    browser.save_screenshot(str(tmp_path / "page.png"))
    script = """
        return [...document.querySelectorAll("td")].filter(cell => cell.innerText.trim() == "cross_entropy")
            .map(cell => { const text = document.createRange(); text.selectNodeContents(cell);
                           return cell.nextElementSibling.innerText })
    """
    assert len(browser.execute_script(script)) >= 2
    assert all("cross_entropy" not in text for text in browser.execute_script(script))
    assert study.about in _text(browser)
    for run, expected in ((_study_run(study), "runs/done"), (_study_run(study), "baseline")):
        browser.get(f"{server}#/experiments/{_experiment(study)}/runs/{run}")
        _until(lambda expected=expected: expected in _text(browser))
    browser.save_screenshot(str(tmp_path / "study-run.png"))


def _experiment(study: Study) -> str:
    from mlflow import MlflowClient

    experiment = MlflowClient().get_experiment_by_name(study.name)
    assert experiment is not None
    return str(experiment.experiment_id)


def _study_run(study: Study) -> str:
    from mlflow import MlflowClient

    (run,) = MlflowClient().search_runs([_experiment(study)], "tags.level = 'study'")
    return str(run.info.run_id)


def _open(browser: Chrome, server: str, study: Study, view: str) -> None:
    """Open a view, and close the panel of MLflow's assistant, which every browser has once."""
    browser.get("about:blank")
    browser.get(server + view_path(_experiment(study), view))
    _until(lambda: "matching run" in _text(browser))
    browser.execute_script(CLOSE_ASSISTANT)


def _resize(browser: Chrome, size: str) -> None:
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def _text(browser: Chrome) -> str:
    found: str = browser.execute_script("return document.body.innerText")
    return found


def _seen(browser: Chrome, *texts: str) -> bool:
    """Whether each text stands within the window, whole."""
    script = """
        return arguments[0].every(wanted => [...document.querySelectorAll("*")].some(each => {
            const box = each.getBoundingClientRect()
            return each.innerText && each.innerText.trim() == wanted && box.width > 0 && box.left >= 0
                && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight
        }))
    """
    return bool(browser.execute_script(script, list(texts)))


def _names(browser: Chrome) -> list[str]:
    return [text.splitlines()[-1] for text in _cells(browser, "attributes.`Run Name`")]


def _cells(browser: Chrome, column: str) -> list[str]:
    """The texts of a column from top to bottom; the page may redraw it at any moment, so in one step."""
    script = """
        return [...document.querySelectorAll('[role="gridcell"][col-id="' + arguments[0] + '"]')]
            .map(cell => [cell.getBoundingClientRect().top, cell.innerText.trim()])
            .sort((a, b) => a[0] - b[0])
    """
    return [text for _, text in browser.execute_script(script, column) if text]


def _expand(browser: Chrome, row: int) -> None:
    script = """
        const buttons = [...document.querySelectorAll(arguments[0])]
        buttons.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
        buttons[arguments[1]].click()
    """
    browser.execute_script(script, EXPANDER, row)


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _until(condition: Callable[[], bool]) -> None:
    """Wait for what the page or the server will do."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the page never came to show what was expected"
        time.sleep(0.2)
