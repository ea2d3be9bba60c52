"""Which arm goes on: the one with most left to do, so that no slot waits in the end for one arm's last trials."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from setsweep.sweeps.planning.cell import Cell


class MostLeft:
    """Finds it without looking at all of them each time.

    A cell stands once in a heap, by what it had left when it was put there. That may have become less, which is seen
    when it comes up; where it has become more, `update` must be called.

    Args:
        cells: of the study; of those with as much left the first goes on.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = cells
        self._number = {id(cell): number for number, cell in enumerate(cells)}
        self._heap: list[tuple[int, int]] = []  # what is left, negative, and the cell's number
        self._left: dict[int, int] = {}  # as it stands in the heap

    def update(self, cell: Cell) -> None:
        """The cell has advanced."""
        number = self._number[id(cell)]
        if cell.waiting and cell.left > self._left.get(number, -1):
            self._left[number] = cell.left
            heapq.heappush(self._heap, (-cell.left, number))

    def first(self) -> Cell | None:
        """The cell that goes on; None: none has a run waiting."""
        while self._heap:
            left, number = -self._heap[0][0], self._heap[0][1]
            cell = self._cells[number]
            if self._left.get(number) != left:  # it stands further up, or has stood
                heapq.heappop(self._heap)
            elif not cell.waiting:
                heapq.heappop(self._heap)
                del self._left[number]
            elif cell.left != left:
                self._left[number] = cell.left
                heapq.heapreplace(self._heap, (-cell.left, number))
            else:
                return cell
        return None
