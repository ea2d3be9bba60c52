"""Image files decoded by several threads, a bounded number of batches ahead of the training.

Files are decoded and scaled without Python's lock, so threads are enough. Which image and which window belongs to a
batch is settled before any of it is read: batches are the same whatever the number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from setsweep.data.batches import PixelScale
from setsweep.data.files import DataError
from setsweep.data.image_files import ImageFiles
from setsweep.data.image_windows import Place


@dataclass(frozen=True)
class Wanted:
    """The images of a batch.

    Args:
        indices: which images.
        places: for each where its window lies; None: in the middle.
        flips: for each whether it is turned left to right; None: none is.
    """

    indices: list[int]
    places: list[Place] | None = None
    flips: list[bool] | None = None

    def __len__(self) -> int:
        return len(self.indices)


def decode_batches(
    files: ImageFiles,
    wanted: Iterable[Wanted],
    *,
    size: int,
    padding: int = 0,
    threads: int | None = None,
    pinned: bool = False,
    scale: PixelScale | None = None,
) -> Iterator[Tensor]:
    """Batches of image windows, in the order wanted.

    Args:
        files: the images.
        wanted: what is in each batch.
        size: side of the windows.
        padding: see `ImageFiles.read`.
        threads: that decode; None: as many as torch uses in this process. They change the speed alone.
        pinned: put the batches into page-locked memory, from which a GPU copies while others work.
        scale: normalise each image by the thread that has decoded it and while it is in its cache; None: they stay
            uint8, a fourth of what has to be moved to a device.

    Yields:
        (batch, 3, size, size) uint8, or float32 where they are normalised; new memory.

    Raises:
        DataError: a file is missing or damaged.
    """
    threads = threads or torch.get_num_threads()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="decode")
    begun: deque[tuple[Tensor, list[Future[None]]]] = deque()
    try:
        for batch in wanted:
            begun.append(_begin(pool, files, batch, size, padding, pinned, scale))
            ahead = max(2, -(-2 * threads // len(batch)))  # batches: at least two, and two images a thread
            if len(begun) > ahead:
                yield _finished(*begun.popleft())
        while begun:
            yield _finished(*begun.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(
    pool: Executor, files: ImageFiles, wanted: Wanted, size: int, padding: int, pinned: bool, scale: PixelScale | None
) -> tuple[Tensor, list[Future[None]]]:
    dtype = torch.uint8 if scale is None else torch.float32
    batch = torch.empty(len(wanted), 3, size, size, dtype=dtype, pin_memory=pinned)
    rows = batch.numpy()

    def read(row: int) -> None:
        place = wanted.places[row] if wanted.places else None
        window = files.read(wanted.indices[row], size=size, place=place, padding=padding)
        if wanted.flips and wanted.flips[row]:
            window = window[..., ::-1]
        rows[row] = window
        if scale is not None:
            scale.normalise(rows[row])

    return batch, [pool.submit(read, row) for row in range(len(wanted))]


def _finished(batch: Tensor, work: list[Future[None]]) -> Tensor:
    for part in work:
        part.result()
    return batch


def decode_all(files: ImageFiles) -> Tensor:
    """All images at once: the square in the middle of each, scaled to `files.resize`.

    Returns:
        (n, 3, resize, resize) uint8.

    Raises:
        DataError: a file is missing or damaged, or they need more memory than the machine has.
    """
    side = files.resize
    needed, there = len(files) * 3 * side * side, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        rule = f"fit into the machine's {there / 2**30:.1f} GiB of memory"
        raise DataError(f"Images in store: memory must {rule}, got {needed / 2**30:.1f} GiB. Set store: files.")
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        return _finished(*_begin(pool, files, Wanted(list(range(len(files)))), side, 0, pinned=False, scale=None))
    finally:
        pool.shutdown(cancel_futures=True)  # one that can't be read is told at once, not after all the others
