"""Time and memory of every loss, forward and backward, beside cross-entropy and the published noised losses (PyPI:
pytopk).

    python tests/benchmarks/losses/speed.py [--rounds 15] [--memory]

One thread, float32. Each round times every loss once, in turn, so that a busy machine slows all alike; a time is the
least CPU time of its rounds. "Cross-entropy" is torch's own. Without pytopk its columns are left out. Peak memory is
what a step adds to the process (Linux).
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from setsweep.losses import LOSSES, build_loss

NOISED = {"noised_topk_hinge": "pytopk balanced", "noised_imbalanced_topk_hinge": "pytopk imbalanced"}
SIZES = [(64, 100, 5), (64, 100, 10), (128, 1081, 5), (128, 1081, 10), (256, 10000, 5), (256, 10000, 10)]
M_MMAP_THRESHOLD = -3
Step = Callable[[], None]


def steps(batch: int, classes: int, k: int) -> dict[str, Step]:
    """One training step on random scores for each loss."""
    generator = torch.Generator().manual_seed(0)
    pair = tuple(torch.randn(batch, classes, generator=generator).requires_grad_() for _ in range(2))
    labels = torch.randint(classes, (batch,), generator=generator)

    def step(values: Callable[[], Tensor]) -> Step:
        def run() -> None:
            for scores in pair:
                scores.grad = None
            values().mean().backward()

        return run

    table = {"torch cross-entropy": step(lambda: cross_entropy(pair[0], labels, reduction="none"))}
    for name, declaration in LOSSES.items():
        loss = build_loss(name, num_classes=classes, k=k, class_counts=[9] * classes, num_examples=batch)
        scores = pair if declaration.head == "two_head" else pair[0]
        extra = {"indices": torch.arange(batch)} if declaration.needs_indices else {}
        table[name] = step(lambda loss=loss, scores=scores, extra=extra: loss(scores, labels, **extra))
    for name, published in pytopk_losses(classes, k).items():
        table[name] = step(lambda published=published: published(pair[0], labels))
    return table


def pytopk_losses(classes: int, k: int) -> dict[str, Callable[..., Tensor]]:
    """The published code with the settings of ours; empty where it is not installed."""
    if importlib.util.find_spec("pytopk") is None:
        return {}
    import pytopk  # type: ignore[import-not-found]

    return {
        "pytopk balanced": pytopk.BalNoisedTopK(k=k, epsilon=0.2, n_sample=10),
        "pytopk imbalanced": pytopk.ImbalNoisedTopK(
            k=k, epsilon=0.01, max_m=0.2, scale=60, n_sample=5, cls_num_list=[9] * classes
        ),
    }


def times(table: dict[str, Step], rounds: int) -> dict[str, float]:
    """Least seconds of a step over `rounds`, losses in turn."""
    best = dict.fromkeys(table, float("inf"))
    for _ in range(rounds):
        for name, step in table.items():
            start = time.process_time()
            step()
            best[name] = min(best[name], time.process_time() - start)
    return best


def peak_memory(step: Step) -> float:
    """MiB that one step adds to what the process holds."""
    step()
    Path("/proc/self/clear_refs").write_text("5")  # start the peak anew
    before = _status("VmRSS")
    step()
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def main(rounds: int) -> None:
    """Print the tables."""
    torch.set_num_threads(1)
    measured = {size: times(steps(*size), rounds if size[1] < 10000 else max(2, rounds // 4)) for size in SIZES}
    heads = [f"{batch}/{classes} k={k}" for batch, classes, k in SIZES]
    print("Time of a step, in steps of torch's cross-entropy:\n")
    print(row("loss", *heads), row(*["---"] * (len(heads) + 1)), sep="\n")
    for name in measured[SIZES[0]]:
        ratios = [f"{best[name] / best['torch cross-entropy']:.1f}" for best in measured.values()]
        print(row(name, *ratios))
    print("\nTime with k = 10 in times with k = 5:\n")
    print(row("loss", *heads[::2]), row(*["---"] * (len(heads[::2]) + 1)), sep="\n")
    best = list(measured.values())
    for ours in NOISED:
        print(row(ours, *(f"{ten[ours] / five[ours]:.2f}" for five, ten in zip(best[::2], best[1::2], strict=True))))
    if "pytopk balanced" in best[0]:
        print("\nHow many times faster than pytopk:\n")
        print(row("loss", *heads), row(*["---"] * (len(heads) + 1)), sep="\n")
        for ours, theirs in NOISED.items():
            print(row(ours, *(f"{one[theirs] / one[ours]:.1f}" for one in best)))


def memory() -> None:
    """Print the table of memory; in a process of its own, which gives memory back at once so that its use shows."""
    torch.set_num_threads(1)
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 16)
    print("\nPeak memory that a step adds at 256/10000, k = 5, in MiB (the gradient of the scores takes 10):\n")
    print(row("loss", "MiB"), row("---", "---"), sep="\n")
    for name, step in steps(256, 10000, 5).items():
        print(row(name, f"{peak_memory(step):.0f}"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--memory", action="store_true", help="print the table of memory alone")
    arguments = parser.parse_args()
    if arguments.memory:
        memory()
    else:
        main(arguments.rounds)
        sys.stdout.flush()
        subprocess.run([sys.executable, __file__, "--memory"], check=True)
