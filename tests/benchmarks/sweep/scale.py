"""What large studies cost: the driver's own time and memory, and that of planning, loading, status and report.

    python tests/benchmarks/sweep/scale.py sweep [--runs 10000] [--slots 16] [--seconds 1] [--tracking-uri URI]
    python tests/benchmarks/sweep/scale.py files [--runs 5000 10000 50000]

`sweep` has made-up results of many runs come from many slots, through the real loop, planner, journal, status file and
MLflow. The slots are simulated and their time is virtual; while the driver computes it goes on by what that takes. So
the time that is printed is what real slots would need, as long as the driver is as fast as here.

`files` prints CPU seconds of processes of their own, Python's start and imports included: of studies of few cells (an
arm at a grid point) with many seeds, and of many cells with few.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

from ours import NOTHING
from recording import made_up

from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.mlflow_projection import Projection
from setsweep.sweeps.records.status_file import StatusFile
from setsweep.sweeps.records.study_folder import open_journal, stored_planner, study_folder
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.loop import Sweep
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult

ARMS = 4
CELLS = (100, 500)


def study_of(runs: int, cells: int, folder: Path) -> Study:
    """A study with that many runs, evenly in so many cells."""
    assert runs % cells == 0, f"runs must be a multiple of {cells}, got {runs}"
    path = folder / f"{runs}-{cells}.yaml"
    points = [10.0 + point for point in range(cells // ARMS)]
    path.write_text(
        NOTHING.replace("study: bookkeeping", f"study: runs-{runs}-cells-{cells}")
        .replace("POINTS", str(points))
        .replace("seeds: 10", f"seeds: {runs // cells}")
    )
    return read_study(path)


class Paced(SimulatedExecutor):
    """Simulated slots beside a real driver: while that computes, virtual time goes on.

    Attributes:
        computed: real seconds that the driver has taken.
    """

    def __init__(self, study: Study, *, slots: int, seconds: float) -> None:
        super().__init__(self._made_up, slots=slots, weather=Weather(seconds=seconds))
        self._study, self._runs = study, dict[str, PlannedRun]()
        self._at, self._since, self.computed = 0.0, time.perf_counter(), 0.0

    def knows(self, planner: Planner) -> None:
        """Learn the runs of a study, of which it makes up results."""
        self._runs = {run.key: run for run, _ in planner.runs()}

    def submit(self, job: Job) -> None:
        """Queue a job, at the driver's time."""
        self.now = self._driver()
        super().submit(job)

    def wait(self, timeout: float) -> list[Outcome]:
        """All that has come until the driver's time, or the first that comes then."""
        now, outcomes = self._driver(), list[Outcome]()
        self.computed += time.perf_counter() - self._since
        while self._events and (not outcomes or self._events[0][0] <= now):
            outcomes += super().wait(timeout)
        self._at, self._since = max(now, self.now), time.perf_counter()
        return outcomes

    def _driver(self) -> float:
        return self._at + time.perf_counter() - self._since

    def _made_up(self, config: RunConfig) -> RunResult:
        return made_up(self._study, self._runs[config.key], time.time())


def sweep(study: Study, folder: Path, *, slots: int, seconds: float, uri: str) -> dict[str, float]:
    """Run a study on simulated slots; see the module for what the times mean.

    Returns:
        virtual: seconds until the last result; computed: of those the driver's; cpu: all CPU time of the process;
        late: until the last record was in MLflow after that; mib: the driver's memory at a tenth, a half, and the end.
    """
    home, memory, began = study_folder(str(folder), study.name), list[float](), time.process_time()
    with open_journal(study, home) as journal:
        planner = Planner(study, journal.results)
        executor = Paced(study, slots=slots, seconds=seconds)
        executor.knows(planner)
        with Projection(study, planner, home, tracking_uri=uri) as projection:
            watch = _Memory(planner.total, memory)
            Sweep(study, planner, executor, journal, home, [projection, StatusFile(home), watch]).run()
            ended = time.perf_counter()
            assert projection.flush(), "MLflow has not taken every record"
            late = time.perf_counter() - ended
    return {
        "runs": planner.total,
        "virtual": round(executor.now, 1),
        "computed": round(executor.computed, 1),
        "cpu": round(time.process_time() - began, 1),
        "late": round(late, 1),
        "mib": [round(each) for each in memory],
    }


class _Memory:
    """Notes how much memory the process holds when some of the runs are done."""

    def __init__(self, total: int, found: list[float]) -> None:
        self._at, self._found, self._done = [total // 10, total // 2, total], found, 0

    def started(self, run: PlannedRun) -> None:
        """Of no interest."""

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """Look, where it is time."""
        self._done += 1
        if self._done in self._at:
            gc.collect()
            self._found.append(_resident())

    def tick(self) -> None:
        """Of no interest."""


def _resident() -> float:
    """MiB that the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def files(runs: int, cells: int, folder: Path) -> list[str]:
    """A row of the table."""
    study = study_of(runs, cells, folder)
    planned = _play(study, study_folder(str(folder), study.name))
    place = ("--storage", str(folder))
    again = _seconds(__file__, "again", "--study", study.path, "--folder", str(folder))
    commands = [_seconds("-m", "setsweep.sweeps", command, study.name, *place) for command in ("status", "report")]
    return [str(runs), str(cells), *(f"{each:.1f}" for each in (planned, again, *commands))]


def _play(study: Study, folder: Path) -> float:
    """CPU seconds in which the planner gives and takes all runs; their journal is written."""
    with open_journal(study, folder) as journal:
        began = time.process_time()
        planner, told = Planner(study, journal.results, journal.trials), list[tuple[PlannedRun, RunResult]]()
        seconds = time.process_time() - began
        while True:
            began = time.process_time()
            run = planner.next_run()
            seconds += time.process_time() - began
            if not isinstance(run, PlannedRun):
                break
            told.append((run, made_up(study, run, 0.0)))
            began = time.process_time()
            planner.tell(told[-1][1])
            seconds += time.process_time() - began
        for first in range(0, len(told), 100):
            journal.add_all(told[first : first + 100])
    return seconds


def _seconds(*arguments: str) -> float:
    """CPU seconds of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sweep", "files", "again"))
    parser.add_argument("--runs", type=int, nargs="+", default=None)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a run, on the mean")
    parser.add_argument("--tracking-uri", help="default: SQLite, in a temporary folder")
    parser.add_argument("--study", help="for its own processes")
    parser.add_argument("--folder", type=Path, help="for its own processes")
    given = parser.parse_args()
    if given.what == "again":
        study = read_study(given.study)
        stored_planner(study, study_folder(str(given.folder), study.name))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.what == "sweep":
            uri = given.tracking_uri or f"sqlite:///{folder / 'mlflow.db'}"
            for runs in given.runs or [10_000]:
                study = study_of(runs, 500, folder)
                print(json.dumps(sweep(study, folder, slots=given.slots, seconds=given.seconds, uri=uri)), flush=True)
            return
        print("| runs | cells | planned, s | loaded and planned, s | `status`, s | `report`, s |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: |")
        for runs in given.runs or [5_000, 10_000, 50_000]:
            for cells in CELLS:
                print(f"| {' | '.join(files(runs, cells, folder))} |", flush=True)


if __name__ == "__main__":
    main()
