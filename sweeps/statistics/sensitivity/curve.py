"""The mean curve over the values of a hyperparameter, with a band for each point and two bands for the whole curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsweep.sweeps.statistics.methods.intervals import mean_interval
from setsweep.sweeps.statistics.sensitivity.block import Floats, left_out, score_table
from setsweep.sweeps.statistics.sensitivity.critical import around_all
from setsweep.sweeps.statistics.sensitivity.two_way import TwoWay, accuracies, fit_two_way, logits

Numbers = tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class Band:
    """Two ends for each value; None for values that it leaves out."""

    low: Numbers
    high: Numbers


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Means over seeds and their bands, an entry for each value in the order given.

    Args:
        mean: arithmetic mean of the accuracies there are; None without any.
        n: how many there are.
        pointwise: Student-t interval of each value by its own seeds, cut to 0..1. Each covers its own mean; all of them
            together cover the curve far less often.
        centre: the accuracy at the mean logit, which the next two bands are about; None for values left out of them.
        whole: covers the whole curve of the values' expected logits at once.
        shape: covers the curve at once up to a shift that all values share. Two values are told apart, all pairs
            taken together, exactly where their stretches do not overlap (Tukey 1953). It is narrower than `whole`
            by what the seeds do to all values alike.
        left_out: indices of the values and of the seeds that these two bands leave out, as their table has holes.
        undefined: why there are no such bands; empty where there are.
    """

    mean: Numbers
    n: tuple[int, ...]
    pointwise: Band
    centre: Numbers
    whole: Band
    shape: Band
    left_out: tuple[tuple[int, ...], ...]
    undefined: str


def mean_curve(scores: npt.ArrayLike, *, confidence: float, examples: int | None = None) -> Curve:
    """The curve of the mean accuracy over values, with its bands.

    The bands of the whole curve rest on the two-way model (`two_way`), with G values and n common seeds. The mean logit
    of value g is m_g = mu_g + a + e_g, where a ~ N(0, tau^2 / n) is the same for all values.

    - `whole` is m_g +- c s / sqrt(n), c such that P(abs(a + e_g) <= c s / sqrt(n) for all g) is the confidence, see
      `around_all`: the true curve lies in the band at every value.
    - `shape` is m_g +- q s / (2 sqrt(n)), q being the quantile of the studentised range of G means on (G - 1)(n - 1)
      degrees of freedom. max e_g - min e_g <= q s / sqrt(n) has the confidence exactly; it holds if and only if the
      stretches m_g - mu_g +- q s / (2 sqrt(n)) have a common point (intervals that meet in pairs meet in one point:
      Helly 1923), that is if some shift of the true curve lies in the band at every value.

    A failed run is a score of NaN. Each value's mean and pointwise interval use the scores it has. The model is fitted
    to a complete part of the table (`complete_block`), and values outside of it get no such band.

    Args:
        scores: (values, seeds) accuracies between 0 and 1; column s holds the same seed for all values.
        confidence: of each band, between 0 and 1.
        examples: how many examples an accuracy counts, see `logits`.

    Raises:
        ValueError: scores that are no accuracies, none at all, or a confidence that is no probability.
    """
    table = score_table(scores, axes=2)
    logits(table, examples=examples)  # says what is wrong with the accuracies: that is no undefined band
    intervals = [mean_interval(row[np.isfinite(row)].tolist(), confidence=confidence) for row in table]
    model, undefined = _fitted(table, examples)
    return Curve(
        mean=tuple(interval.mean for interval in intervals),
        n=tuple(interval.n for interval in intervals),
        pointwise=Band(
            low=tuple(None if one.ci_low is None else max(0.0, one.ci_low) for one in intervals),
            high=tuple(None if one.ci_high is None else min(1.0, one.ci_high) for one in intervals),
        ),
        centre=_at(model, len(table), 0.0),
        whole=_band(model, len(table), 0.0 if model is None else whole_half_width(model, confidence)),
        shape=_band(model, len(table), 0.0 if model is None else model.honest_difference(confidence) / 2),
        left_out=((), ()) if model is None else left_out((model.values, model.seeds), table.shape),
        undefined=undefined,
    )


def whole_half_width(model: TwoWay, confidence: float) -> float:
    """Half the width, in logits, of the band that holds the whole curve: c s / sqrt(n)."""
    ratio = model.of_seeds / model.residual
    return around_all(confidence, ratio, len(model.values), len(model.seeds)) * model.standard_error


def _fitted(table: Floats, examples: int | None) -> tuple[TwoWay | None, str]:
    try:
        return fit_two_way(table, examples=examples), ""
    except ValueError as error:
        return None, str(error)


def _band(model: TwoWay | None, count: int, half: float) -> Band:
    return Band(low=_at(model, count, -half), high=_at(model, count, half))


def _at(model: TwoWay | None, count: int, shift: float) -> Numbers:
    """The accuracies at the mean logits moved by so much; None for values left out."""
    found: list[float | None] = [None] * count
    if model is not None:
        for index, accuracy in zip(model.values.tolist(), accuracies(model.means + shift).tolist(), strict=True):
            found[index] = accuracy
    return tuple(found)
