"""A run that a study asks for."""

from __future__ import annotations

from dataclasses import dataclass

from setsweep.sweeps.planning.candidate import Candidate, OfCandidate
from setsweep.trainables.config.run_config import RunConfig


@dataclass(frozen=True, kw_only=True)
class PlannedRun(OfCandidate):
    """One training that a study asks for.

    Args:
        candidate: what it is a seed of.
        config: what to train.
    """

    candidate: Candidate
    config: RunConfig

    @property
    def key(self) -> str:
        """The run key of the configuration."""
        return self.config.key

    @property
    def seed(self) -> int:
        """The seed of the configuration."""
        return self.config.seed
