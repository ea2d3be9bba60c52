"""Runs that sleep, and a driver that has them done on a cluster: what is measured is the slots, not the machine.

    python tests/benchmarks/sweep/sleeping.py ADDRESS RUNS SECONDS [--steps 1] [--cpus 1] [--share 1] [--priority 0]

says first when it is there, then of each run that has ended when it began and when it ended: a line of JSON each.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import tempfile
import time
from pathlib import Path

from torch import Tensor, nn

CLASSES = 10


class Sleeping(nn.Linear):
    """Sleeps in every step."""

    seconds = 0.0

    def forward(self, inputs: Tensor) -> Tensor:
        """As of a linear model."""
        time.sleep(self.seconds if self.training else 0)
        return super().forward(inputs.flatten(1))


def model(input_shape: tuple[int, ...], seconds: float) -> tuple[nn.Module, int]:
    """A model that sleeps so long in every step."""
    sleeping = Sleeping(math.prod(input_shape), CLASSES)
    sleeping.seconds = seconds
    return sleeping, CLASSES


def main() -> None:
    """Have runs done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("runs", type=int)
    parser.add_argument("seconds", type=float, help="of a step")
    parser.add_argument("--steps", type=int, default=1, help="of a run")
    parser.add_argument("--cpus", type=float, default=1)
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--priority", type=int, default=0)
    given = parser.parse_args()

    from setsweep.sweeps.execution import cluster
    from setsweep.sweeps.execution.executor import Job
    from setsweep.sweeps.execution.ray_executor import RayExecutor
    from setsweep.sweeps.execution.slots.claims import Standing
    from setsweep.trainables.config.complete import complete_config
    from setsweep.trainables.config.run_result import RunResult

    plain = {
        "data": {"name": "digits"},
        "model": {"name": "sleeping:model", "seconds": given.seconds},
        "loss": {"name": "cross_entropy"},
        "training": {"epochs": given.steps, "evaluate_every": given.steps, "batch_size": "full"},
        "k": [1],
    }
    cluster.connect(given.address)
    print(json.dumps(time.time()), flush=True)
    executor = RayExecutor(
        cpus=given.cpus,
        idle_seconds=5,
        standing=Standing(share=given.share, priority=given.priority),
        files={"sleeping.py": Path(__file__).read_bytes()},
    )
    with contextlib.closing(executor), tempfile.TemporaryDirectory() as folder:
        for seed in range(given.runs):
            config = complete_config({**plain, "seed": seed})
            executor.submit(Job(configs=(config,), checkpoint=Path(folder) / f"{seed}.pt"))
        left = given.runs
        while left:
            for result in executor.wait(0.2):
                assert isinstance(result, RunResult)
                assert result.status == "done", result
                print(json.dumps([result.started, result.finished]), flush=True)
                left -= 1
    cluster.disconnect()


if __name__ == "__main__":
    main()
