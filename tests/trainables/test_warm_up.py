"""What a process pays for before its first run."""

from __future__ import annotations

import subprocess
import sys

IMPORTED_LATER = """
import sys
from setsweep.trainables.loop import train
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.warm_up import warm_up

parts = {"data": {"name": "circle"}, "model": {"name": "mlp"}, "loss": {"name": "cross_entropy"}}
config = complete_config({**parts, "k": 2})
warm_up()
before = set(sys.modules)
assert train(config).status == "done"
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("setsweep.")))
"""


def test_after_it_a_run_imports_nothing_but_small_files_of_ours() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", IMPORTED_LATER], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.split() == []
