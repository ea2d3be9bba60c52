"""How long a person waits for the results of a large study in the MLflow UI.

    python tests/benchmarks/sweep/recording.py 5000 FOLDER
    python tests/benchmarks/sweep/opening.py FOLDER [--rounds 5]

starts MLflow's server on the records, one worker as `setsweep ui` does, and opens Results in a headless Chromium of
1400 x 900 pixels, again and again: the first time is a cold one. Prints a line of JSON each time: seconds until the
table is seen; search_seconds, of those the server's answer with the rows; server_cpu, the server's CPU time. Needs the
programs `chromium` and `chromedriver`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

from setsweep.sweeps.records.mlflow_address import view_path

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1400,900")
ROWS = '[col-id="attributes.`Run Name`"]'
SEARCH = """
    const answers = performance.getEntriesByType("resource").filter(each => each.name.endsWith("runs/search"))
    return answers[answers.length - 1].duration
"""
PATIENCE = 120  # seconds


def serve(database: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A server on the database, once it answers, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", port]
    environment = {"MLFLOW_BACKEND_STORE_URI": f"sqlite:///{database}", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    server = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.2)
        else:
            break
    return server, f"http://127.0.0.1:{port}/"


def cpu(process: psutil.Process) -> float:
    """Seconds of a process and its children."""
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    server, address = serve((options.folder / "mlflow.db").absolute())
    chrome_options = webdriver.ChromeOptions()
    for flag in FLAGS:
        chrome_options.add_argument(flag)
    chrome_options.binary_location = shutil.which("chromium") or ""
    browser = webdriver.Chrome(options=chrome_options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        for _ in range(options.rounds):
            browser.get("about:blank")
            began, before = time.perf_counter(), cpu(psutil.Process(server.pid))
            browser.get(address + view_path("1"))
            WebDriverWait(browser, PATIENCE, poll_frequency=0.02).until(
                lambda page: len(page.find_elements("css selector", ROWS)) > 1
            )
            seconds, search = time.perf_counter() - began, browser.execute_script(SEARCH) / 1000
            used = cpu(psutil.Process(server.pid)) - before
            found = {"seconds": seconds, "search_seconds": search, "server_cpu": used}
            print(json.dumps({name: round(value, 2) for name, value in found.items()}), flush=True)
    finally:
        browser.quit()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
