"""Image files, decoded and fed: our epochs beside one thread that only reads, threads that only read, and torchvision's
`ImageFolder` with a DataLoader, in turns in one run.

    python tests/benchmarks/data/decoding.py [--rounds 5] [--cores 2]

800 JPEG files of 500 x 375, scaled to 256, random crop of 224 and flip, in batches of 32. "one thread" and "bare
threads" call what reads a window of a file (`ImageFiles.read`) and throw it away; "fed" is an epoch of ours, normalised
batches and all, with as many decoding threads as there are cores; the DataLoader has as many workers. Each has its best
round.
The ratio to look at is fed / (one thread * cores); on a busy machine the one of processor time, to one thread's.
Every decoder that is installed has its lines; torchvision always decodes by Pillow, as its ImageFolder does.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count, times
from pathlib import Path
from time import perf_counter

import torch
from feed import Batches, Speed, count, files, timed

from setsweep.data import image_decoder
from setsweep.data.feeds import TrainingFeed
from setsweep.data.image_files import ImageFiles
from setsweep.trainables.memory import keep_freed_memory

SIZE = 224


def bare(read: ImageFiles, threads: int) -> Speed:
    """Every image once, by threads that do nothing else."""

    def window(index: int) -> None:
        read.read(index, size=SIZE, place=(7 * index, 13 * index))

    with ThreadPoolExecutor(threads) as pool:
        before, start = sum(times()[:4]), perf_counter()
        for _ in pool.map(window, range(len(read))):
            pass
        return Speed(len(read) / (perf_counter() - start), len(read) / (sum(times()[:4]) - before))


def fed(batches: Batches) -> Speed:
    """A whole epoch."""
    before, start = sum(times()[:4]), perf_counter()
    shown = sum(map(count, batches()))
    return Speed(shown / (perf_counter() - start), shown / (sum(times()[:4]) - before))


def measured(ways: dict[str, Callable[[], Speed]], rounds: int) -> dict[str, Speed]:
    """The best round of each."""
    all_rounds = [{name: way() for name, way in ways.items()} for _ in range(rounds)]
    return {name: Speed(*(max(getattr(r[name], s) for r in all_rounds) for s in ("wall", "cpu"))) for name in ways}


def decoders() -> Iterator[str]:
    """Each decoder that is installed, put in place of the one that is chosen."""
    chosen = image_decoder.torchcodec_jpeg
    for decoder in dict.fromkeys((chosen(), None)):
        image_decoder.torchcodec_jpeg = lambda decoder=decoder: decoder
        yield image_decoder.image_decoder()
    image_decoder.torchcodec_jpeg = chosen


def main(rounds: int, cores: int) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    keep_freed_memory()  # as runs do
    print("| decoder | images/s | one thread | bare threads | fed | DataLoader | fed / (one thread * cores) |"
          " fed / bare threads | fed / DataLoader |", "|" + " --- |" * 9, sep="\n")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = files(cores, Path(folder))
        read = ours.__self__._inputs  # type: ignore[attr-defined]
        assert isinstance(ours.__self__, TrainingFeed)  # type: ignore[attr-defined]
        for name in decoders():
            ways = {
                "one": lambda: bare(read, 1),
                "bare": lambda: bare(read, cores),
                "fed": lambda: fed(ours),
                "theirs": lambda: timed(theirs),
            }
            best = measured(ways, rounds)
            for kind, share in (("wall", cores), ("cpu", 1)):
                one, threads, feed, loader = (getattr(best[way], kind) for way in ways)
                cells = [f"{value:,.0f}" for value in (one, threads, feed, loader)]
                ratios = [f"{value:.2f}" for value in (feed / (one * share), feed / threads, feed / loader)]
                print(f"| {name} | per {'s' if kind == 'wall' else 'CPU s'} | {' | '.join([*cells, *ratios])} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=cpu_count())
    arguments = parser.parse_args()
    main(arguments.rounds, arguments.cores)
