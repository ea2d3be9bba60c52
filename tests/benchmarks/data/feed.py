"""Images per second of the data path alone, beside torchvision's data sets with a transform per image and a DataLoader
of 2 workers, in the same run.

    python tests/benchmarks/data/feed.py [--rounds 3] [--threads 2]

"small": 32 x 32 images in memory, pad-crop and flip, normalised, in batches of 128. "files": JPEG files of 500 x 375,
scaled to 256, random crop of 224 and flip, normalised, in batches of 32. Ours and theirs take turns, and each has its
best round; the start of workers and the first batches are not timed. Theirs uses 2 processes beside the one that asks.
Ours is that one alone, with one torch thread, and for files `--threads` threads that decode. CPU time is that of all;
on a busy machine its ratio is the one to look at.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import times
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import CIFAR100, ImageFolder

from setsweep.data import load_base
from setsweep.data.augmentation import Augmentation
from setsweep.data.dataset import Dataset, Split
from setsweep.data.feeds import TrainingFeed

MEAN, STD = (0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)
WORKERS = 2
UNTIMED = 8  # batches: more than two workers hold ready
Batches = Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class Speed:
    """What a round took.

    Args:
        wall: images per second.
        cpu: images per second of processor time.
    """

    wall: float
    cpu: float


def small() -> tuple[Batches, Batches]:
    """Ours and theirs on 45,000 images as CIFAR-100's."""
    images = torch.randint(256, (45_000, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(45_000) % 100
    split = Split(images, labels)
    ours = feed(Dataset(split, split, split, num_classes=100, mean=MEAN, std=STD), 128, pad_crop=4)
    theirs = CIFAR100.__new__(CIFAR100)  # its own code for an item, without its files
    theirs.data, theirs.targets = images.permute(0, 2, 3, 1).contiguous().numpy(), labels.tolist()
    theirs.transform = transforms.Compose([transforms.RandomCrop(32, padding=4), *finish(MEAN, STD)])
    theirs.target_transform = None
    return ours, lambda: loader(theirs, 128)


def files(threads: int, folder: Path) -> tuple[Batches, Batches]:
    """Ours and theirs on 800 files in 2 classes."""
    for split in ("train", "val", "test"):
        for name in "ab":
            (folder / split / name).mkdir(parents=True)
            for number in range(400 if split == "train" else 1):
                photo(number).save(folder / split / name / f"{number}.jpg", quality=90)
    dataset = load_base({"name": "image_folder", "folder": str(folder)})
    scaled = [transforms.Resize(256), transforms.RandomCrop(224)]
    transform = transforms.Compose([*scaled, *finish(dataset.mean, dataset.std)])
    theirs = ImageFolder(str(folder / "train"), transform)
    return feed(dataset, 32, decode_threads=threads), lambda: loader(theirs, 32)


def photo(seed: int) -> Image.Image:
    """A smooth picture with noise, which as a JPEG file takes about what a photograph does."""
    chance = np.random.default_rng(seed)
    coarse = Image.fromarray(chance.integers(0, 256, (12, 16, 3), dtype=np.uint8))
    pixels = np.asarray(coarse.resize((500, 375), Image.Resampling.BICUBIC)) + chance.normal(0, 12, (375, 500, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def feed(dataset: Dataset, batch_size: int, *, pad_crop: int = 0, decode_threads: int | None = None) -> Batches:
    """Our epochs."""
    training = TrainingFeed(
        dataset,
        batch_size=batch_size,
        seed=0,
        device=torch.device("cpu"),
        augmentation=Augmentation(pad_crop=pad_crop, flip=True),
        decode_threads=decode_threads,
    )
    return training.epoch


def finish(mean: Any, std: Any) -> list[Any]:
    return [transforms.RandomHorizontalFlip(), transforms.ToTensor(), transforms.Normalize(mean, std)]


def loader(dataset: Any, batch_size: int) -> DataLoader[Any]:
    return DataLoader(dataset, batch_size, shuffle=True, num_workers=WORKERS)


def timed(batches: Batches) -> Speed:
    """An epoch but for its first batches; the processor time is that of the whole epoch, workers and all."""
    before = sum(times()[:4])
    iterator: Iterator[Any] = iter(batches())
    every = sum(count(next(iterator)) for _ in range(UNTIMED))
    start = time.perf_counter()
    shown = sum(map(count, iterator))
    wall = shown / (time.perf_counter() - start)
    del iterator  # ends the workers, whose time counts from then on
    return Speed(wall, (every + shown) / (sum(times()[:4]) - before))


def count(batch: Any) -> int:
    return len(batch.labels) if hasattr(batch, "labels") else len(batch[1])


def report(name: str, ours: Batches, theirs: Batches, rounds: int) -> None:
    """One line of the table: the best round of each."""
    speeds = [(timed(ours), timed(theirs)) for _ in range(rounds)]
    best = [Speed(max(s.wall for s in side), max(s.cpu for s in side)) for side in zip(*speeds, strict=True)]
    (us, them), ratios = best, (best[0].wall / best[1].wall, best[0].cpu / best[1].cpu)
    cells = [f"{us.wall:,.0f}", f"{them.wall:,.0f}", f"{ratios[0]:.1f}", f"{us.cpu:,.0f}", f"{them.cpu:,.0f}"]
    print(f"| {name} | {' | '.join(cells)} | {ratios[1]:.1f} |", flush=True)


def main(rounds: int, threads: int) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    heads = ("images", "ours/s", "theirs/s", "ratio", "ours per CPU s", "theirs per CPU s", "ratio")
    print(f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads), sep="\n")
    report("small", *small(), rounds)
    with tempfile.TemporaryDirectory() as folder:
        report("files", *files(threads, Path(folder)), rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=WORKERS)
    arguments = parser.parse_args()
    main(arguments.rounds, arguments.threads)
