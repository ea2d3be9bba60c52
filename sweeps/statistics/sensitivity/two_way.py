"""The additive model of a table of accuracies, values of a hyperparameter x seeds, on the logit scale.

    z_gs = mu_g + a_s + e_gs,    a_s ~ N(0, tau^2),    e_gs ~ N(0, sigma^2),    all independent

The values g are fixed, the seeds s are a random sample that all values share. It holds as far as the spread over seeds
is the same for every value, which on the logit scale it nearly is and on accuracies it is not (thirtyfold).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.block import Floats, complete_block, score_table
from setsweep.sweeps.statistics.sensitivity.critical import studentised_range

LEAST_SPREAD = 1e-9
"""Differences that vary by less than this say nothing of how they vary: no test and no interval is made of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoWay:
    """The fitted model.

    Args:
        values, seeds: the indices of the G values and the n seeds it is fitted to: the largest complete part of the
            table, see `complete_block`.
        means: (G,) mean logit of each value, the estimate of mu_g.
        residual: mean square of the residuals on `degrees` = (G - 1)(n - 1), the estimate of sigma^2.
        of_seeds: mean square between seeds on n - 1 degrees of freedom, the estimate of sigma^2 + G tau^2.
        of_values: mean square between values on G - 1 degrees of freedom.
    """

    values: npt.NDArray[np.intp]
    seeds: npt.NDArray[np.intp]
    means: Floats
    residual: float
    of_seeds: float
    of_values: float

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the residuals."""
        return (len(self.values) - 1) * (len(self.seeds) - 1)

    @property
    def standard_error(self) -> float:
        """Of a mean, apart from what the seeds do to all values alike: s / sqrt(n)."""
        return float(np.sqrt(self.residual / len(self.seeds)))

    def honest_difference(self, confidence: float) -> float:
        """The least difference of two mean logits that tells their values apart: q s / sqrt(n) (Tukey 1953).

        With this confidence no two values whose mu_g are equal differ by more, all pairs taken together.
        """
        return studentised_range(confidence, len(self.values), self.degrees) * self.standard_error

    def p_no_effect(self) -> float:
        """The p-value of the F test that all mu_g are equal."""
        from scipy.special import fdtrc  # imported late: listing studies must not wait for it

        return float(fdtrc(len(self.values) - 1, self.degrees, self.of_values / self.residual))


def fit_two_way(scores: npt.ArrayLike, *, examples: int | None = None) -> TwoWay:
    """The model fitted by least squares, which for a complete table are means.

    Args:
        scores: (values, seeds) accuracies between 0 and 1; NaN where a run has none.
        examples: see `logits`.

    Raises:
        ValueError: no accuracies, fewer than two values or seeds without holes, or no spread to test against.
    """
    table = score_table(scores, axes=2)
    values, seeds = complete_block(np.isfinite(table))
    if min(len(values), len(seeds)) < 2:
        got = f"{len(values)} values and {len(seeds)} seeds"
        raise ValueError(f"a two-way table must have 2 values and 2 seeds without holes at least, got {got}.")
    z = logits(table, examples=examples)[np.ix_(values, seeds)]
    means, by_seed = z.mean(axis=1), z.mean(axis=0)
    left = z - means[:, None] - by_seed + z.mean()
    residual = float((left**2).sum() / ((len(values) - 1) * (len(seeds) - 1)))
    if residual < LEAST_SPREAD**2:
        raise ValueError(
            f"differences between values must vary over seeds by {LEAST_SPREAD:g} at least, got {residual**0.5:.2g}."
        )
    return TwoWay(
        values=values,
        seeds=seeds,
        means=means,
        residual=residual,
        of_seeds=float(len(values) * by_seed.var(ddof=1)),
        of_values=float(len(seeds) * means.var(ddof=1)),
    )


def logits(accuracies: npt.ArrayLike, *, examples: int | None = None) -> Floats:
    """The logits log(p / (1 - p)) of accuracies; finite also where they are exactly 0 or 1.

    With `examples` = N known, half an example is added to the right ones and half to the wrong ones: the empirical
    logit log((N p + 1/2) / (N (1 - p) + 1/2)) (Cox and Snell 1989, section 2.1). Without, accuracies of exactly 0 and 1
    are moved inwards by half of the smallest step between any two of 0, 1 and the accuracies given, which for a count
    of N examples is a multiple of 1 / N, or by 0.005 where that is more; all others stay.

    Raises:
        ValueError: an accuracy outside 0 to 1, or fewer than one example.
    """
    p = np.asarray(accuracies, dtype=np.float64)
    outside = p[(p < 0) | (p > 1)]
    if outside.size:
        raise ValueError(f"accuracies must be between 0 and 1, got {outside[0]:g}.")
    if examples is not None:
        if examples < 1:
            raise ValueError(f"examples must be >= 1, got {examples}.")
        return np.log((examples * p + 0.5) / (examples * (1 - p) + 0.5))
    known = np.unique(np.concatenate([[0.0, 1.0], p[np.isfinite(p)]]))
    inwards = min(0.01, float(np.diff(known).min())) / 2
    p = np.where(p == 0, inwards, np.where(p == 1, 1 - inwards, p))
    return np.log(p / (1 - p))


def accuracies(z: npt.ArrayLike) -> Floats:
    """The accuracies whose logits these are."""
    from scipy.special import expit

    return np.asarray(expit(np.asarray(z, dtype=np.float64)))
