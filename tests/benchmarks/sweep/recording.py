"""What recording costs: a study of many runs with made-up results, into an empty MLflow store.

    python tests/benchmarks/sweep/recording.py RUNS FOLDER [--tracking-uri URI]

prints one line of JSON: runs; seconds and cpu_seconds from the first result to the last record; a_second, runs recorded
in a second; cpu_ms, CPU time of a run; kib, what a run takes in the database (SQLite alone). The runs are those of
`ours.py`'s no_op: four arms, ten seeds, ten epochs, each with the 13 metrics and 7
curves that such a run measures.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.mlflow_pages.metrics import run_metrics
from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.metric import CLASSES_PRESENT, Metric

EPOCHS = 10
CREATE = "import sys, mlflow; mlflow.MlflowClient(sys.argv[1]).search_experiments()"


def study_of(runs: int, folder: Path) -> Study:
    """A study with that many runs, a multiple of 40."""
    from ours import study_text

    path = folder / "study.yaml"
    path.write_text(study_text("no_op", runs))
    return read_study(path)


def made_up(study: Study, run: PlannedRun, began: float) -> RunResult:
    """A result that the run alone decides."""
    draw = random.Random(run.key)
    metrics = [name for name in run_metrics(study) if Metric.parse(name).group is None]
    metrics += [CLASSES_PRESENT.on(split).name for split in ("val", "test")]
    curves = [name for name in metrics if not name.startswith("test/")]
    return RunResult(
        key=run.key,
        status="done",
        metrics={name: draw.random() for name in metrics},
        epochs=tuple(range(1, EPOCHS + 1)),
        curves={name: tuple(draw.random() for _ in range(EPOCHS)) for name in curves},
        started=began,
        finished=began + 1,
        host="here",
    )


def record(study: Study, uri: str) -> dict[str, float]:
    """Record made-up results of all runs of a study; see the module for what is given."""
    planner = Planner(study)
    began = time.time()
    results = [(run, made_up(study, run, began + place)) for place, (run, _) in enumerate(planner.runs())]
    for _, result in results:
        planner.tell(result)
    recorder = MlflowRecorder(study, tracking_uri=uri)
    wall, cpu = time.perf_counter(), time.process_time()
    recorder.start()
    for run, result in results:
        recorder.record(run, result)
        group = planner.group_of(run)
        if group is not None and run == group[-1][0]:
            recorder.group(group)
    recorder.finish("")
    assert recorder.close(patience=120), recorder.problem
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "runs": len(results),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "a_second": round(len(results) / seconds, 1),
        "cpu_ms": round(1000 * cpu_seconds / len(results), 2),
    }


def main() -> None:
    """Print one measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tracking-uri")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    database = options.folder.absolute() / "mlflow.db"
    uri = options.tracking_uri or f"sqlite:///{database}"
    os.chdir(options.folder)
    subprocess.run([sys.executable, "-c", CREATE, uri], check=True, capture_output=True)
    empty = database.stat().st_size if database.exists() else 0
    found = record(study_of(options.runs, Path()), uri)
    if database.exists():
        found["kib"] = round((database.stat().st_size - empty) / 1024 / found["runs"], 1)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
