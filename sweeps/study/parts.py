"""Parts of a study that stand alone: what is confirmed and compared, what runs occupy, what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Confirm:
    """What is confirmed beside the choices, and to what precision.

    Args:
        default: whether the default configuration of an arm that is searched is confirmed as well.
        half_width: of the intervals wanted, as a share (0.003 is 0.3 points); None: as many seeds as are asked for.
        most: how many seeds that may cost.
    """

    default: bool = False
    half_width: float | None = None
    most: int = 30


@dataclass(frozen=True, kw_only=True)
class Compare:
    """Which differences are tested, paired by seed: every arm against `baseline`, and further pairs.

    Args:
        baseline: None: nothing but `pairs`.
        confidence: of intervals; 1 - confidence is the level of tests.
        correction: for the number of comparisons.
        metrics: compared; none: top-k and average-k accuracy for each k.
        show: metrics that tables have beside them, without a test.
        primary: the metric that is tested first, see `Study.primary`.
        pairs: further contrasts, the second arm being taken from the first.
        k: "own": an arm whose loss has a set size of its own is compared at that one alone.
        equivalent: the largest difference that counts as none, in points of accuracy.
        looks: the numbers of seeds at which one tests; "anytime": after every seed; None: once, with all.
        images: whether differences by the primary metric are told image by image as well.
    """

    baseline: str | None = None
    confidence: float = 0.95
    correction: Literal["holm", "bonferroni", "none"] = "holm"
    metrics: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    primary: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    k: Literal["all", "own"] = "all"
    equivalent: float | None = None
    looks: tuple[int, ...] | Literal["anytime"] | None = None
    images: bool = False


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What one run occupies, and how runs share a worker.

    Args:
        cpus: CPUs of a run, each for one thread.
        gpus: GPUs of a run, a share of one included; "auto": as many runs to a GPU as a probe finds best.
        seeds_per_worker: how many seeds of a configuration train side by side; "auto": as many as a probe finds best.
        max_slots: how many runs train at once, at most; a cluster that grows by demand is asked for so many.
        share: how much of a cluster the study gets beside others: twice as much as one with half of it.
        priority: of a study beside others on its cluster: who has more of it comes first.
    """

    cpus: float = 1
    gpus: float | Literal["auto"] = 0
    seeds_per_worker: int | Literal["auto"] = 1
    max_slots: int | None = None
    share: float = 1.0
    priority: int = 0


@dataclass(frozen=True, kw_only=True)
class Keep:
    """What is kept of runs beside their results.

    Args:
        scores: of which runs every kept epoch's scores are: those that are confirmed, all, or none.
        limit: GiB that the scores of a study may take; of runs that begin beyond it none are kept.
    """

    scores: Literal["confirm", "all", "none"] = "none"
    limit: float = 10.0
