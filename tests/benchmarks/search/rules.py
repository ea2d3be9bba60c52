"""Ways to choose the best of some configurations over seeds: ours, and the published ones as they are published.

Each takes the values (configurations, seeds) and where the configurations lie (configurations, dimensions), and gives
who is chosen and how many runs it looked at. Values are looked at in the order in which the rule trains them; what it
never looks at costs nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from landscapes import Array
from scipy import stats

from setsweep.sweeps.planning.race import run_race, rungs, runs_of

Rule = Callable[[Array, Array], tuple[int, int]]


def thirds(least: int) -> Rule:
    """The race in thirds, with so many at least on the second rung."""

    def race(values: Array, _: Array) -> tuple[int, int]:
        seeds = values.shape[1]
        plan = rungs(len(values), 1, seeds, least)
        rounds = run_race(plan, range(seeds), {n: dict(enumerate(row)) for n, row in enumerate(values.tolist())})
        return rounds[-1].survivors[0], runs_of(plan)

    return race


def all_seeds(values: Array, _: Array) -> tuple[int, int]:
    """Every configuration with every seed."""
    return int(values.mean(1).argmax()), values.size


def some_seeds(count: int) -> Rule:
    """Every configuration with the first so many seeds."""
    return lambda values, _: (int(values[:, :count].mean(1).argmax()), len(values) * count)


def wilcoxon(values: Array, _: Array) -> tuple[int, int]:
    """Optuna's WilcoxonPruner (p_threshold 0.1, two steps before it starts): a trial ends when it is significantly
    worse than the best one so far on the seeds that it has.
    """
    best, runs = 0, values.shape[1]
    for number in range(1, len(values)):
        for seeds in range(1, values.shape[1] + 1):
            runs += 1
            difference = values[number, :seeds] - values[best, :seeds]
            if seeds >= 2 and difference.mean() < 0 and difference.any():
                p = stats.wilcoxon(difference, alternative="less", zero_method="zsplit").pvalue
                if p < 0.1:
                    break
        else:
            best = number if values[number].mean() > values[best].mean() else best
    return best, runs


def irace(values: Array, _: Array) -> tuple[int, int]:
    """irace's F-race (Lopez-Ibanez et al. 2016): from the fifth seed on a Friedman test, and where it rejects, who is
    worse than the best by Conover's comparison leaves (level 0.05).
    """
    going, runs = np.arange(len(values)), 0
    for seeds in range(1, values.shape[1] + 1):
        runs += len(going)
        if seeds < 5 or len(going) < 2:
            continue
        own = values[going, :seeds]
        n, k = seeds, len(going)
        ranks = stats.rankdata(-own, axis=0)
        sums, squares = ranks.sum(1), (ranks**2).sum()
        constant = n * k * (k + 1) ** 2 / 4
        if squares == constant:
            continue
        statistic = (k - 1) * (((sums - n * (k + 1) / 2) ** 2).sum()) / (squares - constant)
        if k == 2:
            keep = stats.wilcoxon(own[0] - own[1], zero_method="zsplit").pvalue >= 0.05
            going = going if keep else going[[int(sums.argmin())]]
        elif stats.chi2.sf(statistic, k - 1) < 0.05:
            spread = 2 * n * (1 - statistic / (n * (k - 1))) * (squares - constant) / ((k - 1) * (n - 1))
            bound = stats.t.ppf(0.975, (n - 1) * (k - 1)) * np.sqrt(max(0.0, spread))
            going = going[sums - sums.min() <= bound]
    return int(going[values[going].mean(1).argmax()]), runs


def smac(values: Array, _: Array) -> tuple[int, int]:
    """SMAC's intensification (Hutter, Hoos and Leyton-Brown 2011): a challenger gets 1, 2, 4, ... seeds of the
    incumbent's while its mean on them is no worse; the incumbent gets one more seed for each challenger.
    """
    best, seeds_of_best, runs = 0, 1, 1
    for number in range(1, len(values)):
        if seeds_of_best < values.shape[1]:
            seeds_of_best, runs = seeds_of_best + 1, runs + 1
        seeds, step = 0, 1
        while seeds < seeds_of_best:
            more = min(step, seeds_of_best - seeds)
            seeds, runs, step = seeds + more, runs + more, 2 * step
            if values[number, :seeds].mean() < values[best, :seeds].mean():
                break
        else:
            best = number
    return best, runs


def by_model(values: Array, points: Array) -> tuple[int, int]:
    """Our race, but a Gaussian process's mean of all trials decides who goes on and who wins, instead of raw means.

    Matern 5/2 with a length scale a dimension and noise that falls with the seeds that a mean is of (scikit-learn).
    """
    plan = rungs(len(values), 1, values.shape[1], 6)
    going, seeds = np.arange(len(values)), np.ones(len(values), dtype=int)
    for rung, after in zip(plan, (*plan[1:], None), strict=True):
        seeds[going] = rung.seeds
        means = np.array([row[:count].mean() for row, count in zip(values, seeds, strict=True)])
        order = going[np.argsort(-_smoothed(points, means, seeds)[going], kind="stable")]
        going = order[: after.trials] if after else order
    return int(going[0]), runs_of(plan)


def _smoothed(points: Array, means: Array, seeds: Array) -> Array:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern

    spread = means.std() or 1.0
    noise = 0.1 / seeds  # of the spread's variance: about what digits have
    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern([0.5] * points.shape[1], (0.05, 10.0), nu=2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianProcessRegressor(kernel, alpha=noise, random_state=0).fit(
            points, (means - means.mean()) / spread
        )
        smooth: Array = model.predict(points)
    return smooth


RULES: dict[str, Rule] = {
    "race in thirds (ours)": thirds(4),
    "race, least: 6": thirds(6),
    "the race by a GP's mean": by_model,
    "all seeds": all_seeds,
    "1 seed": some_seeds(1),
    "2 seeds": some_seeds(2),
    "Wilcoxon pruner": wilcoxon,
    "irace": irace,
    "SMAC": smac,
}
