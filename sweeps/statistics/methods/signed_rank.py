"""Wilcoxon's signed-rank test and the interval that goes with it, exact also with ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from setsweep.sweeps.statistics.methods.student import check_confidence


@dataclass(frozen=True, kw_only=True)
class SignedRank:
    """The centre of a few differences by their ranks.

    Args:
        median: of the means of all pairs, each value with itself included (Hodges and Lehmann 1963).
        ci_low, ci_high: ends of its interval; None where so few values have none of this confidence.
        p: two-sided; None where all values are 0.
        n: how many values.
    """

    median: float
    ci_low: float | None
    ci_high: float | None
    p: float | None
    n: int


def signed_rank(values: Sequence[float], *, confidence: float) -> SignedRank:
    """Wilcoxon's (1945) test that values are symmetric about 0, with Hodges and Lehmann's median and interval.

    p is exact: of all 2^n ways to give the ranks a sign, the share with a sum as far out (from the smaller tail,
    doubled). Equal sizes get their mean rank; values of 0 take part in the ranks and are left out of the sum (Pratt
    1959). The interval goes from the c-th smallest to the c-th largest of the n (n + 1) / 2 means of pairs, with the
    largest c for which ``2 P(W < c) <= 1 - confidence``; it covers with at least that, often more.

    Raises:
        ValueError: no value, or `confidence` is no probability.
    """
    check_confidence(confidence)
    n = len(values)
    if not n:
        raise ValueError("values must be at least one, got none.")
    means = sorted((values[i] + values[j]) / 2 for i in range(n) for j in range(i, n))
    middle = len(means) // 2
    cut = _critical(n, 1 - confidence)
    return SignedRank(
        median=means[middle] if len(means) % 2 else (means[middle - 1] + means[middle]) / 2,
        ci_low=means[cut - 1] if cut else None,
        ci_high=means[-cut] if cut else None,
        p=_p(values),
        n=n,
    )


def _p(values: Sequence[float]) -> float | None:
    ranks = _doubled_ranks([abs(value) for value in values])
    used = [rank for rank, value in zip(ranks, values, strict=True) if value != 0]
    if not used:
        return None
    above = sum(rank for rank, value in zip(ranks, values, strict=True) if value > 0)
    smaller = min(above, sum(used) - above)
    return min(1.0, 2 * sum(_ways(used)[: smaller + 1]) / float(2 ** len(used)))


def _doubled_ranks(sizes: Sequence[float]) -> list[int]:
    """Twice the mean ranks: whole numbers also where sizes are equal."""
    first = {size: index for index, size in reversed(list(enumerate(sorted(sizes), start=1)))}
    last = {size: index for index, size in enumerate(sorted(sizes), start=1)}
    return [first[size] + last[size] for size in sizes]


def _ways(ranks: Sequence[int]) -> list[int]:
    """Entry s: in how many ways some of the ranks sum to s."""
    ways = [1]
    for rank in ranks:
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    return ways


def _critical(n: int, alpha: float) -> int:
    """The largest c with 2 P(W < c) <= alpha, W being the sum of those of 1, ..., n that get a plus."""
    below = list(accumulate(_ways(range(1, n + 1))))
    return next(cut for cut, ways in enumerate(below) if 2 * ways > alpha * 2**n)
