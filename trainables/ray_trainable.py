"""The thin Ray Tune adaptor: one Tune trial is one slot of the cluster, which trains run after run.

A trial per run would cost an actor's start (about 2 s) or, with reused actors, Tune's bookkeeping between trials (about
0.2 s) for every run. A slot pays once and keeps its imports, its data and its warm optimiser; Tune still places it on
the cluster's resources and starts it again when its worker dies.
"""

from __future__ import annotations

import os
from typing import Any, Protocol

import torch
from ray import tune


class Workload(Protocol):
    """What a slot does."""

    def warm_up(self) -> None:
        """Pay now for what the first run would else pay for."""
        ...

    def run(self) -> None:
        """Train until there is nothing left to train."""
        ...


class Slot(tune.Trainable):
    """A place where run after run is trained.

    The trial's config holds `workload`, which makes the `Workload` of a slot from the slot's number `slot`; `threads`,
    the CPU threads of a run; and `gpus`, what it has of a GPU: a slot that has nothing of one sees none, which Ray does
    not see to.
    """

    def setup(self, config: dict[str, Any]) -> None:
        """Called by Tune in the slot's process."""
        torch.set_num_threads(config["threads"])
        if not config["gpus"]:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""  # in time: nothing in this process has asked for a GPU yet
        self._workload: Workload = config["workload"](config["slot"])
        self._workload.warm_up()

    def step(self) -> dict[str, Any]:
        """Called by Tune once: the slot's whole life is one step."""
        self._workload.run()
        return {"done": True}
