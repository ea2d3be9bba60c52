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

torch.set_num_threads(1)
if sys.argv[1] == "keep":
    keep_freed_memory()
torch.ones(6 * 2**20)  # 24 MiB, freed at once
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
torch.ones(5 * 2**20)  # 20 MiB
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(how: str) -> int:
    """How many pages a process asks the system for, for a tensor that is smaller than one that it has freed."""
    command = [sys.executable, "-c", FAULTS, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="for Linux with glibc")
def test_what_was_freed_is_taken_again_without_asking_the_system() -> None:
    given_back = _faults("give back")
    assert given_back >= 10  # of 4 KiB or, with huge pages, of 2 MiB
    assert _faults("keep") < given_back / 4
