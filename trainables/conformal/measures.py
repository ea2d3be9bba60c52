"""What sets at a target coverage are measured by: how often and for whom they hold the label, and how large they are.

- coverage: the share of examples whose set holds the label; `macro_coverage`: its mean over the classes present.
- `undercoverage`: the mean over these classes of what their coverage lacks to the target, 0 where it lacks nothing; and
  `classes_below_half`: the share of classes whose coverage is below half the target (Ding, Fermanian and Salmon:
  Conformal prediction for long-tailed classification, ICLR 2026, where it is below 50 %).
- `size_violation`: the largest difference from the target among sets of similar size (Angelopoulos et al.: Uncertainty
  sets for image classifiers using conformal prediction, ICLR 2021; their strata, the last one open).
- `set_size`, its quartiles and 90th percentile, and the shares of sets without a class and with a single one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from torch import Tensor


Name = TypeVar("Name", bound=str)

STRATA = (0, 2, 4, 11, 101)  # the least size in each
PERCENTILES = (25, 50, 75, 90)

OF_EXAMPLES = (
    "coverage",
    "size_violation",
    "set_size",
    *(f"set_size_p{each}" for each in PERCENTILES),
    "empty_sets",
    "single_sets",
)
OF_CLASSES = ("macro_coverage", "undercoverage", "classes_below_half")


def measures(covered: Tensor, sizes: Tensor, labels: Tensor, *, num_classes: int, coverage: float) -> dict[str, float]:
    """All of the above, by name.

    Args:
        covered: (examples,) bool, whether the set holds the label; at least one example.
        sizes: (examples,) how many classes it has.
        labels: (examples,) class indices.
        num_classes: how many classes there are.
        coverage: the target.
    """
    return {
        **_of_classes(covered, labels, num_classes, coverage),
        "coverage": covered.double().mean().item(),
        "size_violation": size_violation(covered, sizes, coverage),
        **_of_sizes(sizes),
    }


def of_groups(
    covered: Tensor, sizes: Tensor, labels: Tensor, groups: Mapping[Name, Tensor], *, coverage: float
) -> dict[Name, dict[str, float]]:
    """`measures` of the examples of each group of classes; none of a group without an example.

    Args:
        covered, sizes, labels, coverage: see `measures`.
        groups: (classes,) bool, which classes are in each.
    """
    found = {}
    for name, mask in groups.items():
        mine = mask[labels]
        if mine.any():
            part = covered[mine], sizes[mine], labels[mine]
            found[name] = measures(*part, num_classes=len(mask), coverage=coverage)
    return found


def size_violation(covered: Tensor, sizes: Tensor, coverage: float) -> float:
    """The largest absolute difference between target and coverage over the strata of sizes that occur."""
    import torch

    stratum = torch.bucketize(sizes, torch.tensor(STRATA, device=sizes.device), right=True) - 1
    counts = stratum.bincount(minlength=len(STRATA))
    held = stratum.bincount(covered.double(), minlength=len(STRATA))
    return (held / counts - coverage)[counts > 0].abs().max().item()


def _of_classes(covered: Tensor, labels: Tensor, num_classes: int, target: float) -> dict[str, float]:
    counts = labels.bincount(minlength=num_classes)
    by_class = (labels.bincount(covered.double(), minlength=num_classes) / counts)[counts > 0]
    return {
        "macro_coverage": by_class.mean().item(),
        "undercoverage": (target - by_class).clamp(min=0).mean().item(),
        "classes_below_half": (by_class < target / 2).double().mean().item(),
    }


def _of_sizes(sizes: Tensor) -> dict[str, float]:
    ranks = {each: math.ceil(len(sizes) * each / 100) for each in PERCENTILES}
    quantiles = {f"set_size_p{each}": float(sizes.kthvalue(rank).values) for each, rank in ranks.items()}
    shares = {"empty_sets": (sizes == 0).double().mean().item(), "single_sets": (sizes == 1).double().mean().item()}
    return {"set_size": sizes.double().mean().item(), **quantiles, **shares}
