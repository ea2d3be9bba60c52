"""How often what a sensitivity study says is so, on made-up studies of which the truth is known.

    python tests/benchmarks/statistics/sensitivity.py [--repetitions 2000] [--only plateau]

One Markdown table. Accuracies are counts of 1,000 examples whose logits are mu_g + a_s + e_gs with a sd of 0.11 of
seeds and 0.08 of the rest, as measured on digits; confidence is 95 %. At 2,000 repetitions 95 % is sure to one point
(two standard errors). Shares of searches take a tenth of the repetitions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import qmc, sobol_indices, uniform

from setsweep.sweeps.statistics.sensitivity.curve import Band, mean_curve
from setsweep.sweeps.statistics.sensitivity.everywhere import regret_everywhere
from setsweep.sweeps.statistics.sensitivity.plateau import cannot_be_told
from setsweep.sweeps.statistics.sensitivity.shares.crossed import grid_shares
from setsweep.sweeps.statistics.sensitivity.shares.searched import SearchShares, search_shares
from setsweep.sweeps.statistics.sensitivity.tuning_curve import tuning_curve

Array = NDArray[np.float64]
Row = tuple[str, str, str]  # what, setting, percent
COVER = 0.95
AT = np.linspace(0, 1, 21)
HILL = 2.4 - 2 * (AT - 0.6) ** 2
CURVES = {"9 values, hill": HILL[::2][:9], "21 values, hill": HILL, "9 values, flat": np.full(9, 2.4)}
TOP = np.array([1.8, 2.0, 2.2, 2.4, 2.4, 2.4, 2.4, 2.2, 2.0])


def curve(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """The curve's two bands: of each value by itself, and of the whole curve."""
    for name, mu in CURVES.items():
        for n in (5, 10):
            each, all_of_them, whole = [], [], []
            # What an accuracy is on average, and what the mean logit says of it, are not quite the same.
            expected = expit(mu + 0.136 * draw.normal(size=(20_000, 1))).mean(axis=0)
            for _ in range(times):
                found = mean_curve(_trained(draw, mu, n), confidence=COVER, examples=1000)
                inside = _inside(found.pointwise, expected)
                each.append(inside.mean())
                all_of_them.append(inside.all())
                whole.append(_inside(found.whole, expit(mu)).all())
            setting = f"{name}, {n} seeds"
            yield "curve: an interval of a value by itself covers", setting, _percent(each)
            yield "curve: all of these cover", setting, _percent(all_of_them)
            yield "curve: the band of the whole covers", setting, _percent(whole)


def plateau(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """The values that cannot be told from the best."""
    for name, mu in {**CURVES, "9 values, top of 4": TOP}.items():
        for n in (5, 10):
            equal = np.flatnonzero(np.isclose(mu, mu.max()))
            members = np.array([cannot_be_told(_trained(draw, mu, n), confidence=COVER)[0] for _ in range(times)])
            yield "plateau: contains the best", f"{name}, {n} seeds", _percent(members[:, equal[0]])
            yield "plateau: contains all as good as the best", f"{name}, {n} seeds", _percent(members[:, equal].all(1))


def everywhere(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """What the value chosen at one of three points loses at another."""
    for name, height in {"flat": 0.0, "weak": 0.05, "curved": 0.2}.items():
        mu = 0.9 - height * (np.linspace(0, 1, 9) - np.array([0.2, 0.5, 0.8])[:, None]) ** 2
        for n in (5, 10):
            hits = []
            for _ in range(times // 2):
                shared = 0.01 * draw.normal(size=(3, 1, n))
                scores = mu[..., None] + shared + 0.01 * draw.normal(size=(3, 9, n))
                found = regret_everywhere(scores, confidence=COVER)
                for row, value in enumerate(found.chosen):
                    for column in {0, 1, 2} - {row}:
                        one = found.matrix()[row][column]
                        truth = mu[column].max() - mu[column][value or 0]
                        hits.append(one is not None and _in(truth, one.low, one.high))
            yield "one value everywhere: its regret is covered", f"{name}, 3 points, {n} seeds", _percent(hits)


def shares(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """Shares of variance: of a grid, and of searches of 96 configurations."""
    x = np.stack(np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 4), indexing="ij"), axis=-1)
    effect = np.sin(4 * x[..., 0]) + x[..., 1]
    for height in (1.0, 0.0):
        found = [
            grid_shares(
                0.8 + 0.01 * (height * effect[..., None] + 0.5 * draw.normal(size=3) + draw.normal(size=(8, 4, 3))),
                ["alpha", "beta"],
            )
            for _ in range(times)
        ]
        if height:
            known = np.array([_component(effect, 0), _component(effect, 1), 0.0, 0.25, 1.0])
            errors = np.array([[row.share for row in one.rows] for one in found]).mean(axis=0) - known / known.sum()
            yield "grid: mean error of a share (largest, points)", "8 x 4, 3 seeds", f"{100 * np.abs(errors).max():.1f}"
        else:
            small = [one.of("alpha").p for one in found]
            yield "grid: an effect that is not there is found", "8 x 4, 3 seeds", _percent([p < 0.05 for p in small])  # type: ignore[operator]
    for noise in (0.0, 0.1, 0.5):
        error, covered, said = [], [], []
        for _ in range(max(40, times // 10)):
            known_shares, one = _search(draw, noise)
            values = [share for row in one.rows for share in (row.first, row.total)]
            error.append(max(abs(a.value - b) for a, b in zip(values, known_shares, strict=True)))
            covered.append(
                np.mean([a.low - 1e-3 <= b <= a.high + 1e-3 for a, b in zip(values, known_shares, strict=True)])
            )
            positions = draw.random((48, 3))
            said.append(search_shares(positions, draw.normal(size=48), ["a", "b", "c"]).nothing)
        setting = f"96 points, noise {noise:.0%} of variance"
        yield "search: every share within 0.05", setting, _percent([each <= 0.05 for each in error])
        yield "search: an interval of a share covers", setting, _percent(covered)
    yield "search: pure noise is called nothing", "48 points, 3 hyperparameters", _percent(said)


def tuning(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """The band of the best of k random trials, for all k at once."""
    known = np.sort(1 - (draw.random((200_000, 2)) ** 2).sum(axis=1) / 2)
    for sampler in ("random", "qmc"):
        for count in (12, 48):
            truth = known[(0.5 ** (1 / np.arange(1, count + 1)) * len(known)).astype(int)]
            hits = []
            for study in range(times):
                x = draw.random((count, 2)) if sampler == "random" else _sobol(count, study)
                found = tuning_curve(1 - (x**2).sum(axis=1) / 2, sampler=sampler, confidence=COVER)
                hits.append(bool((np.array(found.low) <= truth).all() and (truth <= np.array(found.high)).all()))
            yield "tuning curve: the whole band covers", f"{count} trials, {sampler}", _percent(hits)


PARTS: Mapping[str, Callable[[np.random.Generator, int], Iterator[Row]]] = {
    "curve": curve,
    "plateau": plateau,
    "everywhere": everywhere,
    "shares": shares,
    "tuning": tuning,
}


def _trained(draw: np.random.Generator, mu: Array, seeds: int) -> Array:
    """(values, seeds) accuracies on 1,000 examples."""
    logits = mu[:, None] + 0.11 * draw.normal(size=seeds) + 0.08 * draw.normal(size=(len(mu), seeds))
    return np.asarray(np.round(1000 * expit(logits)) / 1000)


def _search(draw: np.random.Generator, noise: float) -> tuple[list[float], SearchShares]:
    """First-order and total share of each hyperparameter, and those found, of one search at random."""
    x = draw.random((96, 3))
    y = _peak(x.T)
    sd = np.sqrt(VARIANCE * noise / (1 - noise))
    found = search_shares(x, 0.8 + 0.05 * (y + sd * draw.normal(size=96)), ["a", "b", "c"])
    pairs = zip(TRUTH.first_order, TRUTH.total_order, strict=True)
    return [share * (1 - noise) for pair in pairs for share in pair], found


def _peak(x: Array) -> Array:
    """A peak in the first, a slope in the second, both interact; the third does nothing."""
    return np.asarray(-3 * (x[0] - 0.7) ** 2 - 0.5 * x[1] + 0.8 * (x[0] - 0.5) * (x[1] - 0.5))


TRUTH = sobol_indices(func=_peak, n=2**14, dists=[uniform()] * 3, rng=np.random.default_rng(0))
VARIANCE = float(_peak(qmc.Sobol(3, seed=0).random_base2(14).T).var())


def _sobol(count: int, seed: int) -> Array:
    """The first points of a longer sequence, as a search takes them."""
    return np.asarray(qmc.Sobol(2, seed=seed).random_base2(6)[:count])


def _component(effect: Array, axis: int) -> float:
    """The variance of an effect over its levels, the mean over the other axis."""
    return float(effect.mean(axis=1 - axis).var())


def _inside(band: Band, truth: Array) -> NDArray[np.bool_]:
    return (np.array(band.low, dtype=float) <= truth) & (truth <= np.array(band.high, dtype=float))


def _in(truth: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low - 1e-12 <= truth <= high + 1e-12


def _percent(hits: object) -> str:
    return f"{100 * np.mean(np.asarray(hits, dtype=float)):.1f}"


def main(repetitions: int, only: str | None) -> None:
    """Print the table."""
    print("| what | setting | % |\n| --- | --- | ---: |")
    for name, part in PARTS.items():
        if only in (None, name):
            for what, setting, percent in part(np.random.default_rng(0), repetitions):
                print(f"| {what} | {setting} | {percent} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--only", choices=PARTS)
    arguments = parser.parse_args()
    main(arguments.repetitions, arguments.only)
