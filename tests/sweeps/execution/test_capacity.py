"""How many runs a machine has room for."""

from __future__ import annotations

import pytest

from setsweep.sweeps.execution.capacity import room


@pytest.mark.parametrize(
    ("machine", "run", "expected"),
    [
        ((16, 0), (1, 0), 16),
        ((3, 0), (2, 0), 1),
        ((0.7, 0), (0.1, 0), 7),
        ((16, 1), (1, 0.3), 3),
        ((16, 2), (1, 0.4), 4),  # 0.2 is left on each
        ((16, 1), (1, 1 / 3), 3),
        ((16, 8), (1, 1 / 8), 16),
        ((64, 8), (1, 1), 8),
        ((64, 7), (1, 2), 3),
        ((16, 0), (1, 0.5), 0),
    ],
)
def test_cpus_and_whole_shares_of_gpus_decide(
    machine: tuple[float, float], run: tuple[float, float], expected: int
) -> None:
    assert room(*machine, cpus=run[0], gpus=run[1]) == expected
