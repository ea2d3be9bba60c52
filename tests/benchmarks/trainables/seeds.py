"""Seeds side by side against the same seeds in turn: the time of whole runs, data and evaluation included.

    python tests/benchmarks/trainables/seeds.py [--seeds 10] [--epochs 300] [--rounds 2]

On a CPU: CPU time on one thread, of Sawada's linear and m = 32 models with each loss of the bundled study `demo` and
its settings but for the epochs, and of `small_cnn` on digits, where nothing is gained and `auto` therefore chooses 1.
On a GPU, where there is one: time of 8 seeds of `small_cnn` and of ResNet-18 on random images of 32 x 32. Both ways
take turns, and a time is the least of its rounds. Ratios above 1 are gains; the last column is what `auto` chooses.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset, Split
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.loop import train, train_seeds
from setsweep.trainables.memory import keep_freed_memory
from setsweep.trainables.probes.seed_group_size import seed_group_size

LOSSES = ({"name": "cross_entropy"}, {"name": "topk_grouping"}, {"name": "topk_transition"}, {"name": "avgk"})
SAWADA: dict[str, dict[str, Any]] = {
    "linear": {"name": "linear", "bias": False},
    "m = 32": {"name": "mlp", "hidden": 32, "bias": False},
}
FULL_BATCH = {"batch_size": "full", "optimizer": {"lr": 1.0}, "keep": "last", "evaluate_every": 100}
Runs = tuple[list[RunConfig], list[Dataset]]


def sawada(model: str, loss: dict[str, Any], seeds: int, epochs: int) -> Runs:
    """The bundled study `demo` at a shift of 75 degrees, or its experiment 3."""
    plain = {
        "data": {"name": "circle", "sigma": 10, "shift": 75},
        "model": SAWADA[model],
        "loss": loss,
        "training": FULL_BATCH | {"epochs": epochs},
        "k": [2],
    }
    configs = [complete_config(plain | {"seed": seed}) for seed in range(seeds)]
    return configs, [load_dataset(config.data, seed=config.seed) for config in configs]


def digits(seeds: int) -> Runs:
    """`small_cnn` on the digits, one epoch."""
    plain = {"data": {"name": "digits"}, "model": {"name": "small_cnn"}, "loss": {"name": "cross_entropy"}, "k": [2]}
    configs = [complete_config(plain | {"training": {"epochs": 1}, "seed": seed}) for seed in range(seeds)]
    return configs, [load_dataset(configs[0].data, seed=0)] * seeds


def random_images(model: dict[str, Any], seeds: int) -> Runs:
    """A model on images of noise, of the shape and classes of CIFAR-100; two epochs of 100 steps."""
    generator = torch.Generator().manual_seed(0)

    def split(size: int) -> Split:
        images = torch.randint(256, (size, 3, 32, 32), dtype=torch.uint8, generator=generator)
        return Split(images, torch.randint(100, (size,), generator=generator))

    dataset = Dataset(split(12_800), split(1_000), split(1_000), num_classes=100, mean=(0.5,) * 3, std=(0.25,) * 3)
    plain = {"data": {"name": "cifar100"}, "model": model, "loss": {"name": "cross_entropy"}, "k": [5]}
    training = {"epochs": 2, "batch_size": 128, "optimizer": {"lr": 0.01}, "device": "cuda"}
    configs = [complete_config(plain | {"training": training, "seed": seed}) for seed in range(seeds)]
    return configs, [dataset] * seeds


def compare(runs: Runs, rounds: int, clock: Callable[[], float]) -> tuple[float, float]:
    """Least seconds of all seeds in turn and side by side."""
    configs, datasets = runs

    def in_turn() -> None:
        for config, dataset in zip(configs, datasets, strict=True):
            train(config, dataset=dataset)

    def together() -> None:
        train_seeds(configs, datasets=datasets)

    times = [(timed(in_turn, clock), timed(together, clock)) for _ in range(rounds)]
    apart, side_by_side = zip(*times, strict=True)
    return min(apart), min(side_by_side)


def timed(work: Callable[[], None], clock: Callable[[], float]) -> float:
    """Seconds that some work takes."""
    start = clock()
    work()
    return clock() - start


def gpu_clock() -> float:
    """The time when the GPU has done all it was given."""
    torch.cuda.synchronize()
    return time.perf_counter()


def report(name: str, runs: Runs, rounds: int, clock: Callable[[], float]) -> tuple[float, float]:
    """Print a line of the table; its two times."""
    apart, together = compare(runs, rounds, clock)
    chosen = seed_group_size(*runs)
    print(f"{name:28} {apart:9.2f} {together:13.2f} {apart / together:7.2f} {chosen:6}", flush=True)
    return apart, together


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    keep_freed_memory()
    print(f"{'':28} {'in turn s':>9} {'side by side s':>13} {'ratio':>6} {'auto':>6}")
    for model in SAWADA:
        sawada_runs = {loss["name"]: sawada(model, loss, options.seeds, options.epochs) for loss in LOSSES}
        times = [
            report(f"{model}, {loss}", runs, options.rounds, time.process_time) for loss, runs in sawada_runs.items()
        ]
        apart, together = map(sum, zip(*times, strict=True))
        print(f"{model + ', all':28} {apart:9.2f} {together:13.2f} {apart / together:7.2f}")
    report("small_cnn on digits", digits(options.seeds), options.rounds, time.process_time)
    if torch.cuda.is_available():
        for model in ({"name": "small_cnn"}, {"name": "resnet18"}):
            report(f"{model['name']}, 8 seeds, GPU", random_images(model, 8), options.rounds, gpu_clock)


if __name__ == "__main__":
    main()
