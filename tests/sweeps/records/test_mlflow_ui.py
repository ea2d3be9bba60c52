"""The MLflow UI, in a real browser, opens a study into aggregates and runs, with means and intervals in columns."""

from __future__ import annotations

import os
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

from setsweep.sweeps.records.mlflow_address import RESULTS, TREE, view_path
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
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
    "--window-size=2400,1200",
)
NAME_CELL = '[col-id="attributes.`Run Name`"]'
EXPANDER = f'{NAME_CELL} button[data-component-id*="runnamecellrenderer"]'
PATIENCE = 60  # seconds for a page on a busy machine


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, study: Study, groups: list[Any]) -> Iterator[str]:
    """The address of an MLflow server on a store with a finished study."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    recorder = MlflowRecorder(study)
    recorder.start()
    for group in groups:
        for planned, result in group:
            recorder.record(planned, result)
        recorder.group(group)
    recorder.finish("| arm | top-2 |\n|---|---|\n| focal | 0.9 |\n")
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
    """A browser that knows nothing yet."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium")
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield chrome
    chrome.quit()


def test_the_view_of_means_lists_every_configuration_with_its_interval(
    server: str, browser: Chrome, study: Study, tmp_path: Path
) -> None:
    browser.get(server + view_path(_experiment(study), RESULTS))
    _until(lambda: len(_names(browser)) == 4)
    browser.save_screenshot(str(tmp_path / "means.png"))

    assert sorted(_names(browser)) == [
        "cross_entropy label_noise=0",
        "cross_entropy label_noise=0.2",
        "focal label_noise=0",
        "focal label_noise=0.2",
    ]
    means, lows, highs, n = (
        [float(text) for text in _cells(browser, f"metrics.`test/top2_accuracy/{statistic}`")]
        for statistic in ("mean", "ci_low", "ci_high", "n")
    )
    assert means == sorted(means, reverse=True)
    assert all(low < mean < high for low, mean, high in zip(lows, means, highs, strict=True))
    assert n == [3, 3, 3, 3]


def test_a_study_opens_into_its_aggregates_and_those_into_their_runs(
    server: str, browser: Chrome, study: Study, tmp_path: Path
) -> None:
    browser.get(server + view_path(_experiment(study), TREE))
    _until(lambda: _names(browser) == ["which-loss"])

    _expand(browser, 0)
    _until(lambda: len(_names(browser)) == 1 + 4)
    aggregates = _names(browser)[1:]
    _expand(browser, 1)
    _until(lambda: len(_names(browser)) == 1 + 4 + 3)
    browser.save_screenshot(str(tmp_path / "tree.png"))

    below = [name for name in _names(browser) if "seed" in name]
    assert len(set(aggregates)) == 4
    assert sorted(below) == [f"{aggregates[0]} seed {seed}" for seed in (10, 11, 12)]
    assert sum(text not in ("", "-") for text in _cells(browser, "metrics.`test/top2_accuracy/ci_low`")) == 4


def _experiment(study: Study) -> str:
    from mlflow import MlflowClient

    experiment = MlflowClient().get_experiment_by_name(study.name)
    assert experiment is not None
    return str(experiment.experiment_id)


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
