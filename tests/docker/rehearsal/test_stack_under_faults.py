"""Something breaks while a study runs on the stack: its table is that of the study to which nothing happened."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]  # on a machine with much else to do

STUDY = """\
study: {name}
data: {{name: digits}}
model: {{name: mlp, hidden: 64}}
training: {{epochs: 30, batch_size: 16}}
k: [2]
arms: {{focal: {{}}}}
confirm: {{seeds: 8}}
"""
RUNS = 8
PATIENCE = 900
MLFLOW = "http://mlflow:5000/api/2.0/mlflow/"
FAST = """
import time
true, true_ns = time.time, time.time_ns
time.time, time.time_ns = lambda: true() + 3600, lambda: true_ns() + 3600 * 10**9
"""


class Study:
    """A study that runs on the stack, submitted by the laptop.

    Args:
        stack: where.
        name: of the study.
    """

    def __init__(self, stack: Any, name: str) -> None:
        self.stack, self.name, self.file = stack, name, f"{name}.yaml"
        (stack.mine / self.file).write_text(STUDY.format(name=name))
        self.said: list[tuple[int, str]] = []
        self._sweep = threading.Thread(target=self._submit)

    def _submit(self) -> None:
        self.said.append(self.stack.call("submit", self.file, "--yes", "--wait"))

    def begin(self, results: int) -> None:
        """Submit it, and wait until it has so many results and goes on."""
        self._sweep.start()
        self.until(lambda: len(self.results()) >= results or not self._sweep.is_alive())
        assert len(self.results()) >= results, self.said

    def end(self) -> tuple[int, str]:
        """The exit code and what was said, when it is over."""
        self._sweep.join(PATIENCE)
        assert not self._sweep.is_alive()
        return self.said[-1]

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for something."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def results(self) -> list[dict[str, Any]]:
        """Those in the journal."""
        journal = self.stack.results(self.name) / "journal.jsonl"
        whole = journal.read_text().rpartition("\n")[0].splitlines() if journal.exists() else []
        return [record["result"] for record in map(json.loads, whole) if record["record"] == "result"]

    def table(self) -> Any:
        """All numbers of the report."""
        return json.loads((self.stack.results(self.name) / "report" / "report.json").read_text())["aggregates"]

    def check(self, table: Any) -> None:
        """Every run is there once and well, in the journal and in MLflow, and the table is this one."""
        code, said = self.said[-1]
        for _ in range(3):  # what was stopped goes on with the same command; it also brings records that are late
            if code == 0 and "MLflow: http://mlflow:5000" in said:
                break
            code, said = self.stack.call("submit", self.file, "--yes", "--wait")
        assert code == 0, said
        assert "MLflow: http://mlflow:5000" in said
        assert Counter(result["status"] for result in self.results()) == {"done": RUNS}
        assert len({result["key"] for result in self.results()}) == RUNS
        recorded = self._recorded()
        assert {run["info"]["status"] for run in recorded} == {"FINISHED"}
        tags = [{tag["key"]: tag["value"] for tag in run["data"]["tags"]} for run in recorded]
        keys = Counter(each["run_key"] for each in tags if each["level"] == "run")
        assert keys == {result["key"]: 1 for result in self.results()}
        assert self.table() == table

    def _recorded(self) -> list[dict[str, Any]]:
        password = self.stack.secrets["MLFLOW_AUTH_ADMIN_PASSWORD"]
        _, found = self.stack.ask(f"{MLFLOW}experiments/get-by-name?experiment_name={self.name}", password)
        wanted = {"experiment_ids": [json.loads(found)["experiment"]["experiment_id"]], "max_results": 1000}
        as_json = {"Content-Type": "application/json"}
        _, runs = self.stack.ask(f"{MLFLOW}runs/search", password, json.dumps(wanted), **as_json)
        return list(json.loads(runs)["runs"])


@pytest.fixture(scope="session")
def table(stack: Any) -> Any:
    """That of the study to which nothing happens."""
    study = Study(stack, "undisturbed")
    asked = time.time()
    study.begin(results=1)
    code, said = study.end()
    assert code == 0, said
    first = min(result["started"] for result in study.results())
    print(f"\nfrom submit to the first training: {first - asked:.1f} s")
    study.check(study.table())
    return study.table()


@pytest.fixture
def begun(stack: Any, request: pytest.FixtureRequest) -> Iterator[Study]:
    """A study in the middle of its training. What its test has broken is mended after it."""
    study = Study(stack, request.node.name.removeprefix("test_").replace("_", "-")[:60])
    study.begin(results=2)
    yield study
    for machine in stack.machines.values():
        machine.mend()
    stack.heal()


def test_a_worker_is_killed_with_all_that_it_was(table: Any, stack: Any, begun: Study) -> None:
    stack.machines["worker1"].cut()
    assert stack.machines["worker1"].kill()
    code, said = begun.end()
    assert code == 0, said
    begun.check(table)


def test_a_worker_is_cut_off_for_a_minute_and_comes_back(table: Any, stack: Any, begun: Study) -> None:
    stack.machines["worker1"].cut()
    time.sleep(60)
    stack.machines["worker1"].mend()
    code, said = begun.end()
    assert code == 0, said
    begun.check(table)


def test_the_driver_is_killed(table: Any, stack: Any, begun: Study) -> None:
    assert stack.machines["head"].kill(f"setsweep run {begun.file}")
    code, said = begun.end()
    assert code != 0
    assert "must go on to its end" in said
    begun.said.append(stack.call("resume", begun.name, "--wait"))
    begun.check(table)


def test_postgresql_is_started_again(table: Any, stack: Any, begun: Study) -> None:
    assert stack.machines["database"].kill()
    stack.heal()
    code, said = begun.end()
    assert code == 0, said
    begun.check(table)


def test_mlflow_is_down_for_two_minutes(table: Any, stack: Any, begun: Study) -> None:
    assert stack.machines["mlflow"].kill()
    time.sleep(120)
    stack.heal()
    code, said = begun.end()
    assert code == 0, said
    begun.check(table)


def test_the_disk_is_full(table: Any, stack: Any, begun: Study) -> None:
    filler = stack.volumes["studies"] / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(b"\0" * 4096)
            file.flush()
    code, said = begun.end()
    filler.unlink()
    assert code != 0
    assert "No space left on device" in said
    assert "Traceback" not in said
    begun.check(table)


def test_a_workers_clock_is_an_hour_fast(table: Any, stack: Any) -> None:
    clock = stack.volumes["studies"] / "clock"
    clock.mkdir(mode=0o755)
    (clock / "sitecustomize.py").write_text(FAST)  # which Python imports at its start; namespaces share one clock
    stack.start("worker2", {"PYTHONPATH": f"/studies/clock:{os.environ.get('PYTHONPATH', '')}"})
    study = Study(stack, "clock")
    study.begin(results=2)
    code, said = study.end()
    stack.start("worker2")
    assert code == 0, said
    assert any(result["started"] > time.time() + 1000 for result in study.results()), "nobody's clock was wrong"
    study.check(table)


def test_a_worker_is_ten_times_slower(table: Any, stack: Any, begun: Study) -> None:
    over = threading.Event()
    slowing = threading.Thread(target=_slow, args=(stack.machines["worker2"], over))
    slowing.start()
    code, said = begun.end()
    over.set()
    slowing.join()
    assert code == 0, said
    begun.check(table)


def _slow(machine: Any, over: threading.Event) -> None:
    """Let what trains on a machine run for a tenth of the time."""
    while not over.is_set():
        training = [process for process in machine.inside() if process.name().startswith("ray::")]
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for process in training:
                with contextlib.suppress(psutil.Error):
                    process.send_signal(number)
            over.wait(0.9 if number == signal.SIGSTOP else 0.1)
