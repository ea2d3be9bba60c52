"""How good the choice is, and what it costs: races over seeds, and searches, on real and made-up landscapes.

    python tests/benchmarks/search/make.py FOLDER                       the real runs, once
    python tests/benchmarks/search/compare.py race FOLDER               who is chosen of T configurations
    python tests/benchmarks/search/compare.py search FOLDER             regret of whole searches at equal runs

`race` is cheap and defaults to 2,000 repetitions; `search` asks Optuna's Gaussian process about 25 times a repetition,
0.1 s of CPU each. FOLDER may be left out: then the made-up landscapes alone are played on.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from landscapes import Array, Landscape, laws, real
from rules import RULES
from searches import SEARCHES

from setsweep.sweeps.planning.cube import sobol

POINTS = 0.0025  # a choice counts as good within a quarter of a point of the best tried


def main() -> None:
    """Parse the command line and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("race", "search"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=9)
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--only", nargs="*", help="landscapes whose names contain one of these")
    parser.add_argument("--rules", nargs="*", default=list(RULES))
    parser.add_argument("--searches", nargs="*", default=list(SEARCHES))
    options = parser.parse_args()
    landscapes = [*(real(options.folder) if options.folder else []), *laws()]
    landscapes = [each for each in landscapes if not options.only or any(part in each.name for part in options.only)]
    if options.what == "race":
        _races(landscapes, options.rules, options.trials, options.seeds, options.repetitions or 2000)
    else:
        _searches(landscapes, options.searches, options.repetitions or 200)


def play_race(
    landscape: Landscape, trials: int, seeds: int, repetition: int, rules: Sequence[str] = tuple(RULES)
) -> dict[str, tuple[bool, float, int]]:
    """By rule: whether the choice is good, its regret against the best tried, and the runs; of one repetition."""
    draw = np.random.default_rng(repetition)
    points: Array = sobol(landscape.dimensions, trials, repetition)
    means = landscape.mean(points)
    values = means[:, None] + landscape.noise(draw, points, seeds)
    found = {}
    for name in rules:
        chosen, runs = RULES[name](values)
        regret = float(means.max() - means[chosen])
        found[name] = regret <= POINTS, regret, runs
    return found


def _races(landscapes: list[Landscape], rules: Sequence[str], trials: int, seeds: int, repetitions: int) -> None:
    print(f"{trials} trials, {seeds} seeds, {repetitions} repetitions: share of choices within 0.25 points of the best")
    print("tried (%), mean regret (points), runs (% of all)\n")
    print("| landscape |" + "".join(f" {name} |" for name in rules))
    print("|---|" + "---:|" * len(rules))
    for landscape in landscapes:
        played = [play_race(landscape, trials, seeds, repetition, rules) for repetition in range(repetitions)]
        cells = []
        for name in rules:
            good, regret, runs = np.mean([each[name] for each in played], 0)
            cells.append(f" {100 * good:.1f}, {100 * regret:.3f}, {100 * runs / (trials * seeds):.0f} |")
        print(f"| {landscape.name} |" + "".join(cells), flush=True)


def _searches(landscapes: list[Landscape], names: list[str], repetitions: int) -> None:
    print(f"mean regret against the best there is (points) and its standard error; {repetitions} repetitions\n")
    print("| landscape |" + "".join(f" {name} |" for name in names))
    print("|---|" + "---:|" * len(names))
    for landscape in landscapes:
        cells = []
        for name in names:
            means = [SEARCHES[name](landscape, repetition) for repetition in range(repetitions)]
            regrets = 100 * (landscape.best - np.array(means))
            cells.append(f" {regrets.mean():.3f} ± {regrets.std() / np.sqrt(len(regrets)):.3f} |")
        print(f"| {landscape.name} |" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
