"""Setsweep's side of the sweep benchmarks: the whole path, from the study file to the last result in MLflow."""

from __future__ import annotations

import time
from pathlib import Path

import psutil

from sweeps import cluster
from sweeps.execution.ray_executor import RayExecutor
from sweeps.planning.planner import Planner
from sweeps.planning.study_reader import read_study
from sweeps.projection import Projection
from sweeps.status import StatusFile
from sweeps.storage import open_journal, study_folder
from sweeps.sweep import Sweep

# Three arms at two grid points with four seeds: 24 runs of ten epochs on scikit-learn's digits.
TRAINING = """
study: efficiency
data: {name: digits}
model: {name: small_cnn, width: WIDTH}
training: {epochs: 10, batch_size: 64, optimizer: {name: sgd, lr: 0.05, momentum: 0.9}}
k: [2]
arms: [cross_entropy, avgk, topk_transition]
grid: {data.label_noise: [0.0, 0.2]}
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


def training_study(width: int) -> str:
    """24 runs; the width of the network sets how long each takes."""
    return TRAINING.replace("WIDTH", str(width))


def empty_study(runs: int) -> str:
    """`runs` runs (a multiple of 40) that cost nothing but bookkeeping."""
    return NOTHING.replace("POINTS", str([float(10 + point) for point in range(runs // 40)]))


def sweep(study_text: str, folder: Path) -> dict[str, float]:
    """Run a study on the connected cluster and record it in MLflow on SQLite.

    Args:
        study_text: the study file.
        folder: receives everything.

    Returns:
        seconds: from here (Ray is up) to the last result recorded; training_seconds: the sum over runs;
        first_seconds: to the first result; slots; runs; driver_mib: the driver's memory at the end.
    """
    path = folder / "study.yaml"
    path.write_text(study_text)
    began, wall = time.perf_counter(), time.time()
    study = read_study(path)
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
        "driver_mib": psutil.Process().memory_info().rss / 2**20,
    }


def connect(slots: int) -> None:
    """A Ray cluster on this machine, as `setsweep run` starts it."""
    cluster.connect(None, cpus=slots)
