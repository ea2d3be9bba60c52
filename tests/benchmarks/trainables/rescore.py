"""Rescoring runs of the size of CIFAR-100 from kept scores: 40 runs, 5 kept epochs each, top-k and average-k for two k.

    python tests/benchmarks/trainables/rescore.py [--runs 40] [--epochs 5]

The scores are random, of 5,000 validation and 10,000 test examples in 100 classes; one run's are written and read as
often as there are runs, so that reading them is reading what the system has cached.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from setsweep.data.dataset import Dataset, Split
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.kept.rescore import Rescoring, rescored
from setsweep.trainables.evaluation.kept.score_store import ScoreWriter, read_scores
from setsweep.trainables.evaluation.kept.scored_splits import Splits
from setsweep.trainables.learners.build import build_learner
from setsweep.trainables.learners.initial import training_feed

CLASSES = 100
CPU = torch.device("cpu")


def main() -> None:
    """Write, rescore, print."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=5)
    asked = parser.parse_args()
    draws = torch.Generator().manual_seed(0)
    dataset = Dataset(*(_split(size, draws) for size in (45_000, 5_000, 10_000)), num_classes=CLASSES)
    plain = {"data": {"name": "cifar100"}, "model": {"name": "mlp"}, "loss": {"name": "cross_entropy"}, "k": [1, 5]}
    config = complete_config(plain)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        writer = ScoreWriter(folder, config, dataset)
        began = time.process_time()
        for epoch in range(1, asked.epochs + 1):
            writer.add(epoch, _scores(dataset, draws))
        writer.finish()
        writing = (time.process_time() - began) / asked.epochs
        training = _epoch()
        share = f"{100 * writing / training:.2f} % of one of small_cnn, {training:.0f} s"
        print(f"writing an epoch: {writing:.2f} s of CPU, {share}")
        size = sum(path.stat().st_size for path in folder.glob("*.pt")) / asked.epochs / 2**20
        print(f"an epoch takes {size:.1f} MiB")
        kept = read_scores(folder)
        assert kept is not None
        result = RunResult(key=config.key, status="done", metrics={"train/loss": 0.0})
        began, clock = time.process_time(), time.perf_counter()
        for _ in range(asked.runs):
            rescored(result, config, kept, Rescoring())
        cpu, wall = time.process_time() - began, time.perf_counter() - clock
        print(f"rescoring {asked.runs} runs of {asked.epochs} epochs: {cpu:.1f} s of CPU, {wall:.1f} s")


def _epoch(steps: int = 20) -> float:
    """CPU seconds that an epoch of 45,000 images takes, from some steps of the network that is fastest of all."""
    draws = torch.Generator().manual_seed(0)
    images = torch.randint(256, (steps * 64, 3, 32, 32), dtype=torch.uint8, generator=draws)
    split = Split(images, torch.randint(0, CLASSES, (len(images),), generator=draws))
    dataset = Dataset(split, split, split, num_classes=CLASSES, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))
    plain = {"data": {"name": "cifar100"}, "model": {"name": "small_cnn"}, "loss": {"name": "cross_entropy"}, "k": 5}
    config = complete_config({**plain, "training": {"batch_size": 64}})
    learner, feed = build_learner([config], [dataset], CPU), training_feed(config, dataset, CPU)
    began = time.process_time()
    for batch in feed.epoch():
        learner.step([batch], 0.1)
    return (time.process_time() - began) / feed.steps * 45_000 / 64


def _split(size: int, draws: torch.Generator) -> Split:
    return Split(torch.zeros(size, 1), torch.randint(0, CLASSES, (size,), generator=draws))


def _scores(dataset: Dataset, draws: torch.Generator) -> Splits:
    def some(labels: torch.Tensor) -> torch.Tensor:
        lead = 2 * torch.nn.functional.one_hot(labels, CLASSES)
        return 3 * (torch.randn(len(labels), CLASSES, generator=draws) + lead)

    return {"val": (some(dataset.val.labels),), "test": (some(dataset.test.labels),)}


if __name__ == "__main__":
    main()
