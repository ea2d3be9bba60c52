"""Which conformal sets a run is measured by, and the numbers that their scores and thresholds have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setsweep.trainables.conformal.sets import CALIBRATIONS, SCORES, Calibration, ScoreName
from setsweep.trainables.settings.rules import Rule, flag, listed, one_of, real, whole
from setsweep.trainables.settings.setting import Setting, declared, settings_of

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def _some(*names: str) -> Rule:
    """One or more of some names, each once; a single one need be no list."""
    listing = listed(one_of(*names))

    def check(value: object) -> tuple[str, ...]:
        found: tuple[str, ...] = listing.check([value] if isinstance(value, str) else value)
        if not found or len(set(found)) < len(found):
            raise ValueError(f"must be one or more of {', '.join(names)}, each once, got {list(found)!r}.")
        return found

    several = {**listing.schema, "minItems": 1, "uniqueItems": True}
    return Rule("other", check, f"one or more of {', '.join(names)}", {"anyOf": [{"enum": list(names)}, several]})


@dataclass(frozen=True, kw_only=True)
class Conformal:
    """How conformal sets are made; each field says what it does."""

    scores: tuple[ScoreName, ...] = declared(_some(*SCORES), ("lac",), "that classes are compared by")
    calibrations: tuple[Calibration, ...] = declared(
        _some(*CALIBRATIONS), ("marginal",), "one threshold, one a class, one a cluster of classes, or in between"
    )
    randomized: bool = declared(
        flag(), False, "whether aps, raps and saps are less a draw of their last term, one an example, as published"
    )
    raps_penalty: float = declared(real(low=0), 0.01, "of raps, for each rank beyond the free ones")
    raps_free_ranks: int = declared(whole(0), 5, "of raps, without a penalty", unit="ranks")
    saps_weight: float = declared(real(above=0), 0.2, "of saps, for each rank")
    interpolation: float = declared(
        real(low=0, high=1), 0.5, "weight of a class's own threshold against that of all, of interpolated"
    )


CONFORMAL: Mapping[str, Setting] = settings_of(Conformal)
"""Every setting of `Conformal` by its name."""


def nonconformity(
    score: ScoreName, probabilities: Tensor, how: Conformal, *, prevalence: Tensor, draws: Tensor | None
) -> Tensor:
    """The score of every class, (rows, classes) float64; the larger, the less it suits the example.

    Args:
        score: its name.
        probabilities: (rows, classes).
        how: see `Conformal`.
        prevalence: (classes,) of each class in training, for `pas`.
        draws: (rows,) uniform from 0 to 1, for what is randomized.
    """
    from setsweep.trainables.conformal import scores

    drawn = draws if how.randomized else None
    if score == "lac":
        return scores.lac(probabilities)
    if score == "pas":
        return scores.pas(probabilities, prevalence=prevalence)
    if score == "saps":
        return scores.saps(probabilities, weight=how.saps_weight, draws=drawn)
    if score == "raps":
        numbers = {"penalty": how.raps_penalty, "free_ranks": how.raps_free_ranks}
        return scores.raps(probabilities, **numbers, draws=drawn)  # type: ignore[arg-type]
    return scores.aps(probabilities, draws=drawn)


def thresholds(
    calibration: Calibration,
    scores_of_labels: Tensor,
    labels: Tensor,
    coverage: float,
    how: Conformal,
    *,
    largest: float,
    num_classes: int,
    generator: torch.Generator,
) -> Tensor:
    """(classes,) float64 the threshold of each class, on the CPU.

    Args:
        calibration: its name.
        scores_of_labels: (n,) that the labels of the calibration examples have.
        labels: (n,) class indices.
        coverage: the target.
        how: see `Conformal`.
        largest: the largest score that there is.
        num_classes: how many classes there are.
        generator: on the CPU, for the clusters.

    Raises:
        ValueError: too few examples for that coverage, or a coverage out of range.
    """
    from setsweep.trainables.conformal.clusters import clustered
    from setsweep.trainables.conformal.quantiles import classwise, interpolated, marginal

    if calibration == "clustered":
        return clustered(scores_of_labels, labels, num_classes, coverage, generator)
    of_all = marginal(scores_of_labels, num_classes, coverage)
    if calibration == "marginal":
        return of_all
    of_class = classwise(scores_of_labels, labels, num_classes, coverage)
    if calibration == "classwise":
        return of_class
    return interpolated(of_all, of_class, weight=how.interpolation, largest=largest)


def largest_score(score: ScoreName, how: Conformal, *, num_classes: int, sum_of_probabilities: float = 1.0) -> float:
    """The largest score that a class can have.

    Args:
        score: its name.
        how: see `Conformal`.
        num_classes: how many classes there are.
        sum_of_probabilities: of a row, at most: 1 of a softmax, the number of classes of sigmoids.
    """
    if score in ("lac", "pas"):
        return 1.0
    if score == "saps":
        return 1 + (num_classes - 1) * how.saps_weight
    beyond = max(0, num_classes - how.raps_free_ranks) if score == "raps" else 0
    return sum_of_probabilities + how.raps_penalty * beyond
