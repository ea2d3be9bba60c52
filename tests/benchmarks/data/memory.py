"""Memory of 8 processes on one machine that train on the same data, which lie in Ray's object store.

    python tests/benchmarks/data/memory.py [--processes 8] [--images 45000]

Each process takes the data as the slots of a sweep do, and goes through an epoch of augmented batches. From
/proc/self/smaps_rollup (Linux), in MiB a process: memory of its own (USS), and its share of all (PSS: pages that n
processes have count 1/n), before it has the data, when it has them, and after the epoch. Were the data copied, memory
of its own would grow by their size, as the second half of the table shows.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import ray
import torch

from setsweep.data.arrays import from_arrays, to_arrays
from setsweep.data.augmentation import Augmentation
from setsweep.data.dataset import Dataset, Split
from setsweep.data.feeds import TrainingFeed

MEAN, STD = (0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)


def example(n: int) -> Dataset:
    """Random images of the shape of CIFAR-100's."""
    images = torch.randint(256, (n, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    split = Split(images, torch.arange(n) % 100)
    few = Split(images[:128], split.labels[:128])
    return Dataset(split, few, few, num_classes=100, mean=MEAN, std=STD)


def train_on(dataset: Dataset) -> None:
    """One epoch of batches."""
    augmentation = Augmentation(pad_crop=4, flip=True)
    feed = TrainingFeed(dataset, batch_size=128, seed=0, device=torch.device("cpu"), augmentation=augmentation)
    for batch in feed.epoch():
        assert batch.inputs.shape[1:] == (3, 32, 32)


def memory() -> dict[str, float]:
    """Of this process, MiB."""
    kib = {}
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]:
        name, size = line.split()[:2]
        kib[name.rstrip(":")] = int(size)
    return {"own": (kib["Private_Clean"] + kib["Private_Dirty"]) / 1024, "share": kib["Pss"] / 1024}


@ray.remote(num_cpus=1)
class Trainer:
    """One process."""

    def start(self) -> dict[str, float]:
        """What any first epoch takes is taken beforehand."""
        torch.set_num_threads(1)
        train_on(example(1280))
        return memory()

    def get(self, data: dict[str, Any], *, copied: bool) -> dict[str, float]:
        """Ray has mapped the data for the call; they are kept as a data set, and every page is touched."""
        self.dataset = from_arrays({**data, "train_inputs": data["train_inputs"].copy()} if copied else data)
        inputs = self.dataset.train.inputs
        assert isinstance(inputs, torch.Tensor)
        inputs.view(-1)[::1024].max()
        return memory()

    def train(self) -> dict[str, float]:
        """An epoch."""
        train_on(self.dataset)
        return memory()


def measure(processes: int, data: Any, *, copied: bool) -> None:
    """Three lines of the table. All processes take a step before any takes the next: shares are those of all."""
    trainers = [Trainer.remote() for _ in range(processes)]
    steps = {
        "before": lambda trainer: trainer.start.remote(),
        "with the data": lambda trainer: trainer.get.remote(data, copied=copied),
        "after an epoch": lambda trainer: trainer.train.remote(),
    }
    for name, step in steps.items():
        found = ray.get([step(trainer) for trainer in trainers])
        means = [sum(each[kind] for each in found) / processes for kind in ("own", "share")]
        print(f"| {'a copy each' if copied else 'shared'} | {name} | {means[0]:.0f} | {means[1]:.0f} |", flush=True)
    for trainer in trainers:
        ray.kill(trainer)


def main(processes: int, images: int) -> None:
    """Print the table."""
    arrays = to_arrays(example(images))
    ray.init(num_cpus=processes, include_dashboard=False, log_to_driver=False)
    data = ray.put(arrays)
    print(f"{processes} processes, {arrays['train_inputs'].nbytes / 2**20:.0f} MiB of training images.\n")
    print("| data | when | own, MiB a process | share of all, MiB a process |", "| --- | --- | --- | --- |", sep="\n")
    for copied in (False, True):
        measure(processes, data, copied=copied)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--images", type=int, default=45_000)
    arguments = parser.parse_args()
    main(arguments.processes, arguments.images)
