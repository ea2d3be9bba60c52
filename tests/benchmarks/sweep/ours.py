"""Setsweep's side of the sweep benchmarks: the whole path, from the study to the last result in MLflow on SQLite.

    python tests/benchmarks/sweep/ours.py {train_small,no_op} RUNS SLOTS FOLDER

prints one line of JSON. The clock starts when Ray is up and the study has been read, as in `setsweep run`, and stops
when the last result is in MLflow.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

from setsweep.sweeps.execution import cluster
from setsweep.sweeps.execution.ray_executor import RayExecutor
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.mlflow_projection import Projection
from setsweep.sweeps.records.status_file import StatusFile
from setsweep.sweeps.records.study_folder import open_journal, study_folder
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.sweep.loop import Sweep

# Three arms at RUNS / 12 grid points with four seeds: runs of ten epochs on scikit-learn's digits.
TRAINING = """
study: efficiency
data: {name: digits}
model: {name: small_cnn, width: 60}
training: {epochs: 10, batch_size: 64, optimizer: {name: sgd, lr: 0.05, momentum: 0.9}}
k: [2]
arms: [cross_entropy, avgk, topk_transition]
grid: {data.label_noise: POINTS}
confirm: {seeds: 4}
"""

# Four arms at RUNS / 40 grid points with ten seeds: runs that train next to nothing, for ten epochs.
NOTHING = """
study: bookkeeping
data: {name: circle, per_class: 2}
model: {name: linear}
training: {epochs: 10, batch_size: full, optimizer: {name: sgd, lr: 0.1}, keep: last}
k: [2]
arms: [cross_entropy, avgk, topk_grouping, topk_transition]
grid: {data.sigma: POINTS}
confirm: {seeds: 10}
"""


def study_text(workload: str, runs: int) -> str:
    """The study file of a workload with that many runs (a multiple of 12 or 40)."""
    text, a_point, first, step = (TRAINING, 12, 0.0, 0.1) if workload == "train_small" else (NOTHING, 40, 10.0, 1.0)
    assert runs % a_point == 0, f"runs must be a multiple of {a_point}, got {runs}"
    return text.replace("POINTS", str([round(first + step * point, 3) for point in range(runs // a_point)]))


def sweep(text: str, folder: Path, slots: int) -> dict[str, float]:
    """Run a study on a Ray cluster of this machine and record it in MLflow on SQLite.

    Args:
        text: the study file.
        folder: receives everything.
        slots: runs at once.

    Returns:
        seconds: from here (Ray is up) to the last result recorded; training_seconds: the sum over runs;
        first_seconds: to the first result; slots; runs; driver_mib: the driver's memory at the end.
    """
    path = folder / "study.yaml"
    path.write_text(text)
    study = read_study(path)
    cluster.connect(None, cpus=slots)
    began, wall = time.perf_counter(), time.time()
    home = study_folder(str(folder / "storage"), study.name)
    with open_journal(study, home) as journal:
        planner = Planner(study, journal.results)
        uri = f"sqlite:///{folder / 'mlflow.db'}"
        with Projection(study, planner, home, tracking_uri=uri) as projection:
            executor = RayExecutor(cpus=study.resources.cpus, most=planner.total)
            Sweep(study, planner, executor, journal, home, [projection, StatusFile(home)]).run()
            assert projection.flush(), "MLflow has not taken every record"
            seconds = time.perf_counter() - began
            executor.close()
    results = list(planner.results.values())
    assert all(result.status == "done" for result in results), results
    return {
        "seconds": seconds,
        "training_seconds": sum(result.seconds for result in results),
        "first_seconds": min(result.finished for result in results) - wall,
        "slots": executor.slots,
        "runs": len(results),
        "driver_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
    }


def main() -> None:
    """Run one workload."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=("train_small", "no_op"))
    parser.add_argument("runs", type=int)
    parser.add_argument("slots", type=int)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps(sweep(study_text(given.workload, given.runs), given.folder.absolute(), given.slots)))


if __name__ == "__main__":
    main()
