"""The learning rates that runs have used, where those of the study are meant for batches of another size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.training import flatten


@dataclass(frozen=True, kw_only=True)
class LearningRate:
    """The learning rate of a configuration.

    Args:
        given: as the study or its search says.
        reference: examples of the batch that it is meant for.
        batch_size: the batch that it was used with; "full": all training examples.
        used: in the first steps; None with a full batch, whose size the data tell.
    """

    given: float
    reference: int
    batch_size: int | str
    used: float | None


def learning_rates(study: Study, candidates: Iterable[Candidate]) -> list[LearningRate]:
    """The different learning rates of configurations, those without a reference left out."""
    found = [_learning_rate(study, candidate) for candidate in candidates]
    return list(dict.fromkeys(each for each in found if each is not None))


def _learning_rate(study: Study, candidate: Candidate) -> LearningRate | None:
    fixed = {f"training.{path}": value for path, value in flatten(study.training).items()}
    settings: dict[str, Any] = {**fixed, **candidate.params, **candidate.point}
    reference = settings.get("training.reference_batch_size")
    if reference is None:
        return None
    given, size = settings["training.optimizer.lr"], settings["training.batch_size"]
    used = None if size == "full" else given * size / reference
    return LearningRate(given=given, reference=reference, batch_size=size, used=used)
