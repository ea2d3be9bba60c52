"""Memory that a process keeps for its next step."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import torch
from setsweep.trainables.memory import keep_freed_memory

def faults(steps):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(steps):
        del [torch.ones(2**20) for _ in range(12)][:]  # tensors of 4 MiB, freed together at the end of a step
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

torch.set_num_threads(1)
if sys.argv[1] == "keep":
    keep_freed_memory()
faults(10)
print(faults(10))
"""


def _faults(how: str) -> int:
    """How often a process had to ask the system for a page of memory in ten steps."""
    command = [sys.executable, "-c", FAULTS, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="for Linux with glibc")
def test_the_next_step_takes_what_was_freed_without_asking_the_system() -> None:
    given_back = _faults("give back")
    assert given_back >= 10 * 12 * 2  # pages of 4 KiB or, with huge pages, of 2 MiB
    assert _faults("keep") < given_back / 10
