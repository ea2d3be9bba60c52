"""Thresholds and all metrics for k = 2, 3, 5, 10 in one pass, beside Algorithm 1 read plainly (softmax, flatten, sort)
for one k.

    python tests/benchmarks/losses/thresholds.py [--examples 31000] [--classes 1081]
"""

from __future__ import annotations

import argparse
import time

import torch

from setsweep.trainables.evaluation.metrics import evaluate

KS = (2, 3, 5, 10)


def main(examples: int, classes: int) -> None:
    """Print one table."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    scores = 2 * torch.randn(examples, classes, generator=generator)
    labels = torch.randint(classes, (examples,), generator=generator)

    def ours() -> float:
        chunks = zip(scores.split(1000), labels.split(1000), strict=True)
        found = evaluate(chunks, num_classes=classes, ks=KS, probabilities="softmax", num_examples=examples)
        return found.thresholds[KS[0]]

    def plain() -> float:
        largest = scores.softmax(1).flatten().sort(descending=True).values
        rank = KS[0] * examples
        return (largest[rank - 1].item() + largest[rank].item()) / 2

    seconds, results = {}, {}
    for name, work in (("thresholds and metrics, 4 k", ours), ("plain Algorithm 1, one k", plain)):
        start = time.perf_counter()
        results[name] = work()
        seconds[name] = time.perf_counter() - start
    assert len(set(results.values())) == 1, results
    print(f"{examples:,} x {classes:,} scores, one thread:\n\n| what | seconds |\n| --- | --- |")
    for name, taken in seconds.items():
        print(f"| {name} | {taken:.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=31000)
    parser.add_argument("--classes", type=int, default=1081)
    arguments = parser.parse_args()
    main(arguments.examples, arguments.classes)
