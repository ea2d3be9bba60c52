"""Runs on one machine read the same memory; Linux tells which memory is whose."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from setsweep.data.arrays import from_arrays, to_arrays
from setsweep.data.augmentation import Augmentation
from setsweep.data.dataset import Dataset, Split
from setsweep.data.feeds import TrainingFeed, evaluation_batches

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")

MIB = 40
PROCESSES = 8


def mapped_dataset(folder: Path) -> Dataset:
    """Images in a file that is mapped, as Ray maps its store; the file is made by the first who asks."""
    path = folder / "images.npy"
    if not path.exists():
        np.save(path, np.random.default_rng(0).integers(0, 256, (MIB * 2**20 // 3072, 3, 32, 32), dtype=np.uint8))
    images = np.load(path, mmap_mode="r")
    few = Split(torch.zeros(2, 3, 32, 32, dtype=torch.uint8), torch.arange(2))
    arrays = to_arrays(Dataset(few, few, few, num_classes=2))
    labels = np.arange(len(images)) % 2
    return from_arrays({**arrays, "train_inputs": images, "train_labels": labels})


def train_and_evaluate(dataset: Dataset) -> None:
    """An epoch, and a look at the whole split."""
    cpu = torch.device("cpu")
    feed = TrainingFeed(dataset, batch_size=64, seed=0, device=cpu, augmentation=Augmentation(pad_crop=4, flip=True))
    shown = sum(len(batch.labels) for batch in feed.epoch())
    shown += sum(len(labels) for _, labels in evaluation_batches(dataset, dataset.train, cpu))
    assert shown == 2 * len(dataset.train)


def mib(field: str) -> float:
    """Of this process."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def test_an_epoch_on_the_cpu_copies_no_split(tmp_path: Path) -> None:
    dataset = mapped_dataset(tmp_path)
    before = mib("Anonymous")

    train_and_evaluate(dataset)

    # batches, and what the allocator keeps of them; a copy would be 40 MiB
    assert mib("Anonymous") - before < MIB / 2


@pytest.mark.slow
def test_8_processes_hold_the_data_once(tmp_path: Path) -> None:
    mapped_dataset(tmp_path)
    command = [sys.executable, __file__, str(tmp_path)]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(PROCESSES)]

    def step() -> float:
        """What all processes have in common after they have all taken it: the sum of their shares."""
        total = 0.0
        for process in started:
            assert process.stdout is not None
            total += float(process.stdout.readline())
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return total

    step()  # all are there
    without = step()
    step()  # all have trained
    trained = step()

    for process in started:
        process.communicate(timeout=60)
    # the data once, and of each process batches and what the allocator keeps of them; eight copies would be 320 MiB
    assert MIB * 0.9 < trained - without < MIB + PROCESSES * MIB / 4


if __name__ == "__main__":
    torch.set_num_threads(1)
    small = Split(torch.zeros(640, 3, 32, 32, dtype=torch.uint8), torch.arange(640) % 2)
    train_and_evaluate(Dataset(small, small, small, num_classes=2))  # what any first epoch takes
    print(0.0, flush=True)
    sys.stdin.readline()
    print(mib("Pss"), flush=True)
    sys.stdin.readline()
    data = mapped_dataset(Path(sys.argv[1]))
    train_and_evaluate(data)
    print(0.0, flush=True)
    sys.stdin.readline()
    print(mib("Pss"), flush=True)
    sys.stdin.readline()
