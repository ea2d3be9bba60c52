"""A run and its place in a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.study.study import Point, Stage
from setsweep.trainables.config.run_config import RunConfig


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One training that a study asks for.

    Args:
        arm: name of the arm.
        point: the grid point, path to value; empty without a grid.
        params: the arm's hyperparameters in this configuration, by short name: a loss's by their bare names
            ("alpha", "k"), other searched values by their path ("training.batch_size").
        stage: "search" (chosen on validation) or "confirm" (fresh seeds, test numbers).
        trial: the number of the trial within its arm and point; None in the confirmation.
        config: what to train.
    """

    arm: str
    point: Point
    params: Mapping[str, Any]
    stage: Stage
    trial: int | None
    config: RunConfig

    @property
    def key(self) -> str:
        """The run key of the configuration."""
        return self.config.key

    @property
    def seed(self) -> int:
        """The seed of the configuration."""
        return self.config.seed

    @property
    def group(self) -> tuple[str, tuple[tuple[str, Any], ...], str, int | None]:
        """What the seeds of one aggregate have in common: arm, point, stage and trial."""
        return (self.arm, tuple(self.point.items()), self.stage, self.trial)
