"""Time of an epoch against k: figure 3 of Garcin et al. 2022.

    python tests/benchmarks/papers/epoch_time.py [--model densenet_40_40] [--steps 3]

CPU time, on one thread, of an epoch of 45,000 images in batches of 64 with 100 classes. The network's forward and
backward pass, which no loss changes, is timed once; the step of each loss, on scores of its batch, by the least of five
rounds, each of all losses in turn. On a GPU, as in the paper, the network is faster and losses weigh more.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import torch

from setsweep.losses import build_loss
from setsweep.trainables.models.classifier import build_model

BATCH, CLASSES, IMAGES = 64, 100, 45_000
STEPS = math.ceil(IMAGES / BATCH)
KS = (1, 2, 5, 10, 20, 50)
LOSSES = {
    "cross-entropy": ("cross_entropy", {}),
    "noised, B = 3": ("noised_topk_hinge", {"epsilon": 0.2, "num_samples": 3}),
    "noised, B = 10": ("noised_topk_hinge", {"epsilon": 0.2, "num_samples": 10}),
    "noised, B = 50": ("noised_topk_hinge", {"epsilon": 0.2, "num_samples": 50}),
    "smoothed (Berrada et al.)": ("smooth_topk_hinge", {"tau": 1.0}),
    "calibrated": ("calibrated_topk_hinge", {}),
    "average-k": ("avgk", {}),
}


def main() -> None:
    """Print a row for each loss: seconds that it adds to an epoch, and in percent of an epoch of cross-entropy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="densenet_40_40")
    parser.add_argument("--steps", type=int, default=3, help="of the network that are timed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = STEPS * _network(options.model, options.steps)
    steps = {(title, k): _step(name, k, settings) for title, (name, settings) in LOSSES.items() for k in KS}
    times = {key: min(each) for key, each in _rounds(steps).items()}
    base = network + STEPS * times["cross-entropy", KS[0]]
    print(f"An epoch of {options.model} with cross-entropy: {base:.0f} s of CPU time. Each loss, s (% of that):\n")
    print("| loss | " + " | ".join(f"k = {k}" for k in KS) + " |\n| --- |" + " ---: |" * len(KS))
    for title in LOSSES:
        cells = (f"{STEPS * times[title, k]:.2f} ({100 * STEPS * times[title, k] / base:.2f})" for k in KS)
        print(f"| {title} | " + " | ".join(cells) + " |")


def _rounds(steps: dict[tuple[str, int], Callable[[], None]], rounds: int = 5) -> dict[tuple[str, int], list[float]]:
    found: dict[tuple[str, int], list[float]] = {key: [] for key in steps}
    for _ in range(rounds):
        for key, step in steps.items():
            found[key].append(_cpu(step, 10))
    return found


def _step(name: str, k: int, settings: dict[str, float]) -> Callable[[], None]:
    chance = torch.Generator().manual_seed(0)
    pair = tuple(torch.randn(BATCH, CLASSES, generator=chance).requires_grad_() for _ in range(2))
    labels = torch.randint(CLASSES, (BATCH,), generator=chance)
    loss = build_loss(name, num_classes=CLASSES, k=k, generator=chance, **settings)
    scores = pair if name == "avgk" else pair[0]
    return lambda: loss(scores, labels).mean().backward()


def _network(name: str, steps: int) -> float:
    """CPU seconds of a forward and backward pass of one batch: the least of some."""
    model = build_model({"name": name}, head="linear", input_shape=(3, 32, 32), num_classes=CLASSES, seed=0)
    inputs = torch.randn(BATCH, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    return min(_cpu(lambda: model(inputs).sum().backward(), 1) for _ in range(steps))


def _cpu(call: Callable[[], object], times: int) -> float:
    clock = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - clock) / times


if __name__ == "__main__":
    main()
