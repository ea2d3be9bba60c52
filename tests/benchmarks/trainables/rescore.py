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

CLASSES = 100


def main() -> None:
    """Write, rescore, print."""
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
        print(f"writing an epoch: {(time.process_time() - began) / asked.epochs:.2f} s of CPU")
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


def _split(size: int, draws: torch.Generator) -> Split:
    return Split(torch.zeros(size, 1), torch.randint(0, CLASSES, (size,), generator=draws))


def _scores(dataset: Dataset, draws: torch.Generator) -> Splits:
    def some(labels: torch.Tensor) -> torch.Tensor:
        lead = 2 * torch.nn.functional.one_hot(labels, CLASSES)
        return 3 * (torch.randn(len(labels), CLASSES, generator=draws) + lead)

    return {"val": (some(dataset.val.labels),), "test": (some(dataset.test.labels),)}


if __name__ == "__main__":
    main()
