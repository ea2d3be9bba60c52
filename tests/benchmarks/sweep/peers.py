"""What a sweep costs without Setsweep: the same kind of runs by Ray Tune as its tutorials show it, by Ray Tune tuned by
hand, and by a bare pool of processes, which is the floor.

    python tests/benchmarks/sweep/peers.py {tutorial,hand_tuned,pool} {train_small,no_op} RUNS SLOTS FOLDER

prints one line of JSON. Measure each peer in a process of its own, so that none finds the other's warm workers.
The clock starts when Ray is up (for the pool: when its workers are warm) and stops when the last result is recorded in
MLflow on SQLite (for the pool: when it is back). Making the SQLite store is inside, loading the data too.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

EPOCHS = 10
METRICS = ("loss", "accuracy", "top2", "top3", "macro_accuracy", "avg2_accuracy", "avg2_size", "confidence")

Config = Mapping[str, Any]
Report = Callable[[dict[str, float]], Any]
Outcome = dict[str, Any]  # "metrics": final values; "curves": of each metric the value at every epoch


@dataclass(frozen=True)
class Workload:
    """One kind of run.

    Args:
        load: gives the data, as numpy arrays.
        train: takes a configuration, the data, and what is to be called with the metrics of every epoch; among the
            metrics is "seconds", the time spent in training and evaluation so far.
    """

    load: Callable[[], Any]
    train: Callable[[Config, Any, Report], Outcome]


def load_digits() -> Any:
    """Images (1797, 1, 8, 8) float32 and labels of scikit-learn's digits."""
    from sklearn import datasets

    bunch = datasets.load_digits()
    return (bunch.images[:, None] / 16).astype("float32"), bunch.target


def load_nothing() -> None:
    """No data."""


def train_small(config: Config, data: Any, report: Report) -> Outcome:
    """Ten epochs of a small convolutional network on 1,437 digits, one thread; after each, evaluated on 360 others."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    images, labels = (torch.tensor(array) for array in data)
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10)),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    history, seconds = [], 0.0
    for _ in range(EPOCHS):
        began = time.perf_counter()
        model.train()
        for batch in torch.split(torch.randperm(1437), 64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
        metrics = evaluate(model.eval(), images[1437:], labels[1437:])
        seconds += time.perf_counter() - began
        history.append({**metrics, "seconds": seconds})
        report(history[-1])
    return outcome(history)


def evaluate(model: Any, images: Any, labels: Any) -> dict[str, float]:
    """About as many metrics as a run of ours records, from one pass over the held-out images."""
    import torch

    with torch.inference_mode():
        scores = model(images)
        chances = scores.softmax(1)
        hits = (scores.topk(3).indices == labels[:, None]).cumsum(1).double()
        chosen = chances >= chances.flatten().topk(2 * len(labels)).values[-1]
        values = (
            torch.nn.functional.cross_entropy(scores, labels),
            *hits.mean(0),
            torch.stack([hits[labels == label, 0].mean() for label in range(10)]).mean(),
            chosen.gather(1, labels[:, None]).double().mean(),
            chosen.sum(1).double().mean(),
            chances.max(1).values.mean(),
        )
        return {name: float(value) for name, value in zip(METRICS, values, strict=True)}


def no_op(config: Config, data: Any, report: Report) -> Outcome:
    """Ten epochs of nothing, with as many metrics as a real run."""
    del data
    history = [{**{name: float(config["seed"]) for name in METRICS}, "seconds": 0.0} for _ in range(EPOCHS)]
    for metrics in history:
        report(metrics)
    return outcome(history)


def outcome(history: list[dict[str, float]]) -> Outcome:
    """Final metrics and curves from the metrics of every epoch."""
    return {"metrics": history[-1], "curves": {name: [at[name] for at in history] for name in history[-1]}}


WORKLOADS = {"train_small": Workload(load_digits, train_small), "no_op": Workload(load_nothing, no_op)}


def tutorial(workload: Workload, runs: int, slots: int, folder: Path) -> dict[str, float]:
    """Ray Tune as its tutorials show it: a function that loads its data and reports every epoch, OptunaSearch, and
    MLflowLoggerCallback, all with their defaults.
    """
    from ray import tune
    from ray.air.integrations.mlflow import MLflowLoggerCallback
    from ray.tune.search.optuna import OptunaSearch

    def trainable(config: Config) -> None:
        workload.train(config, workload.load(), tune.report)

    with ray_cluster(slots):
        began = time.perf_counter()
        tuner = tune.Tuner(
            trainable,
            param_space={"lr": tune.loguniform(0.01, 0.1), "seed": tune.randint(0, 1000)},
            tune_config=tune.TuneConfig(search_alg=OptunaSearch(), metric="accuracy", mode="max", num_samples=runs),
            run_config=tune.RunConfig(
                name="tutorial",
                storage_path=str(folder / "tune"),
                callbacks=[MLflowLoggerCallback(tracking_uri=store(folder), experiment_name="tutorial")],
            ),
        )
        results = tuner.fit()
        seconds = time.perf_counter() - began
    check_recorded(folder, runs)
    return summary(seconds, [results[index].metrics for index in range(len(results))], runs, slots)


def hand_tuned(workload: Workload, runs: int, slots: int, folder: Path) -> dict[str, float]:
    """Ray Tune by someone who knows it: actors that are used again, data in the object store, one report a trial, none
    of the default loggers, and MLflow in batches from a thread beside Tune's loop.
    """
    os.environ["TUNE_DISABLE_AUTO_CALLBACK_LOGGERS"] = "1"
    from ray import tune
    from ray.tune.search.optuna import OptunaSearch

    class Run(tune.Trainable):
        def setup(self, config: dict[str, Any], data: Any = None) -> None:
            self.reset_config(config)
            self.data = data

        def step(self) -> dict[str, Any]:
            done = workload.train(self.settings, self.data, lambda metrics: None)
            return {**done["metrics"], "curves": done["curves"], "done": True}

        def reset_config(self, new_config: dict[str, Any]) -> bool:
            self.settings = new_config
            return True

    class Record(tune.Callback):
        def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            record.submit(trial.config, trial.last_result["curves"])

    with ray_cluster(slots):
        began = time.perf_counter()
        record = BatchRecord(store(folder))
        tuner = tune.Tuner(
            tune.with_parameters(Run, data=workload.load()),
            param_space={"lr": tune.loguniform(0.01, 0.1), "seed": tune.randint(0, 1000)},
            tune_config=tune.TuneConfig(
                search_alg=OptunaSearch(), metric="accuracy", mode="max", num_samples=runs, reuse_actors=True
            ),
            run_config=tune.RunConfig(
                name="hand_tuned",
                storage_path=str(folder / "tune"),
                callbacks=[Record()],
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                verbose=0,
            ),
        )
        results = tuner.fit()
        record.finish()
        seconds = time.perf_counter() - began
    check_recorded(folder, runs)
    return summary(seconds, [results[index].metrics for index in range(len(results))], runs, slots)


class BatchRecord:
    """One MLflow run for each trial, written in one batch by a thread when the trial is over."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.writer = ThreadPoolExecutor(1)
        self.writes = [self.writer.submit(self.open)]

    def __getstate__(self) -> dict[str, Any]:
        return {"uri": self.uri}  # Tune pickles callbacks, and threads cannot be

    def submit(self, config: Config, curves: Mapping[str, list[float]]) -> None:
        """Have a finished trial recorded."""
        self.writes.append(self.writer.submit(self.write, config, curves))

    def finish(self) -> None:
        """Wait until all is recorded. Raises what went wrong."""
        for write in self.writes:
            write.result()
        self.writer.shutdown()

    def open(self) -> None:
        """Make the store and the experiment."""
        from mlflow import MlflowClient

        self.client = MlflowClient(self.uri)
        self.experiment = self.client.create_experiment("hand_tuned")

    def write(self, config: Config, curves: Mapping[str, list[float]]) -> None:
        """Record a finished trial."""
        from mlflow.entities import Metric, Param

        now = int(time.time() * 1000)
        metrics = [Metric(name, v, now, epoch) for name, values in curves.items() for epoch, v in enumerate(values, 1)]
        run = self.client.create_run(self.experiment)
        params = [Param(key, str(value)) for key, value in config.items()]
        self.client.log_batch(run.info.run_id, metrics=metrics, params=params)
        self.client.set_terminated(run.info.run_id)


def pool(workload: Workload, runs: int, slots: int, folder: Path) -> dict[str, float]:
    """A pool of warm processes that share the runs and record nothing: no sweep can be faster."""
    del folder
    context = get_context("spawn")
    barrier = context.Barrier(slots + 1)
    with context.Pool(slots, warm_up, (workload, barrier)) as workers:
        barrier.wait()
        began = time.perf_counter()
        outcomes = list(workers.imap_unordered(run_here, [{"lr": 0.05, "seed": seed} for seed in range(runs)]))
        seconds = time.perf_counter() - began
    return summary(seconds, [done["metrics"] for done in outcomes], runs, slots)


def warm_up(workload: Workload, barrier: Any) -> None:
    """Prepare a worker of the pool: import torch, load the data, train once; then wait for the others."""
    here.append((workload, workload.load()))
    run_here({"lr": 0.05, "seed": 0})
    barrier.wait()


def run_here(config: Config) -> Outcome:
    """One run in a worker of the pool."""
    workload, data = here[0]
    return workload.train(config, data, lambda metrics: None)


here: list[tuple[Workload, Any]] = []  # in a worker of the pool: what it runs, on what


@contextmanager
def ray_cluster(slots: int) -> Iterator[None]:
    """Ray on this machine with that many CPU slots, for as long as it is needed."""
    import ray
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers need not find this file
    ray.init(num_cpus=slots, include_dashboard=False, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def store(folder: Path) -> str:
    """The address of the MLflow store in a folder."""
    return f"sqlite:///{folder / 'mlflow.db'}"


def check_recorded(folder: Path, runs: int) -> None:
    """Refuse a measurement whose results are not all in MLflow: Tune ends well even where every trial fails."""
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        (finished,) = database.execute("SELECT count(*) FROM runs WHERE status = 'FINISHED'").fetchone()
        places = ", ".join("?" * len(METRICS))
        (values,) = database.execute(f"SELECT count(*) FROM metrics WHERE key IN ({places})", METRICS).fetchone()
    expected = (runs, runs * EPOCHS * len(METRICS))
    assert (finished, values) == expected, f"finished runs and metrics must be {expected}, got {(finished, values)}"


def summary(seconds: float, metrics: list[Any], runs: int, slots: int) -> dict[str, float]:
    """What is compared: wall seconds, and the seconds that went into training summed over runs."""
    assert len(metrics) == runs, f"{runs} runs were asked for, got {len(metrics)}"
    training = sum(float(final["seconds"]) for final in metrics)
    return {"seconds": seconds, "training_seconds": training, "runs": runs, "slots": slots}


PEERS = {"tutorial": tutorial, "hand_tuned": hand_tuned, "pool": pool}


def main() -> None:
    """Run one peer on one workload."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("runs", type=int)
    parser.add_argument("slots", type=int)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    measured = PEERS[given.peer](WORKLOADS[given.workload], given.runs, given.slots, given.folder.absolute())
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
