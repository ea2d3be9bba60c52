"""How good the choice is, and what it costs: races over seeds, and searches, on real and made-up landscapes.

    python tests/benchmarks/search/make.py FOLDER                       the real runs, once
    python tests/benchmarks/search/compare.py race FOLDER               who is chosen of T configurations
    python tests/benchmarks/search/compare.py search FOLDER --kept FILE regret of whole searches at equal runs

`race` is cheap and defaults to 2,000 repetitions; `search` asks Optuna's Gaussian process about 50 times a repetition,
0.13 s of CPU each. What it has played is kept in FILE, so that it may be stopped, gone on with, and printed at any time
(`--repetitions 0` prints alone). FOLDER may be left out: then the made-up landscapes alone are played on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from landscapes import Array, Landscape, laws, real
from rules import RULES
from searches import SEARCHES

from setsweep.sweeps.planning.samplers.cube import sobol

Kept = dict[tuple[str, str], dict[int, float]]  # landscape and search: regret by repetition

POINTS = 0.0025  # a choice counts as good within a quarter of a point of the best tried


def main() -> None:
    """Parse the command line and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("race", "search"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=9)
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--kept", type=Path, default=Path("searches.jsonl"))
    parser.add_argument("--only", nargs="*", help="landscapes whose names contain one of these")
    parser.add_argument("--rules", nargs="*", default=list(RULES))
    parser.add_argument("--searches", nargs="*", default=list(SEARCHES))
    options = parser.parse_args()
    landscapes = [*(real(options.folder) if options.folder else []), *laws()]
    landscapes = [each for each in landscapes if not options.only or any(part in each.name for part in options.only)]
    if options.what == "race":
        _races(landscapes, options.rules, options.trials, options.seeds, options.repetitions or 2000)
    else:
        repetitions = 200 if options.repetitions is None else options.repetitions
        _print_searches(_play_searches(landscapes, options.searches, repetitions, options.kept))


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
        chosen, runs = RULES[name](values, points)
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
            cells.append(
                f" {100 * good:.1f}{_paired(played, name)}, {100 * regret:.3f}, {100 * runs / (trials * seeds):.0f} |"
            )
        print(f"| {landscape.name} |" + "".join(cells), flush=True)


def _paired(played: Sequence[Mapping[str, tuple[bool, float, int]]], name: str) -> str:
    """How much less often the choice is good than that of all seeds, with its standard error (%)."""
    if name == "all seeds" or "all seeds" not in played[0]:
        return ""
    differences = 100 * np.array([float(each[name][0]) - float(each["all seeds"][0]) for each in played])
    return f" ({differences.mean():+.2f} ± {differences.std() / np.sqrt(len(differences)):.2f})"


def _play_searches(landscapes: list[Landscape], names: list[str], repetitions: int, kept: Path) -> Kept:
    """Play what is not kept yet, repetition by repetition, so that all cells have about as many when it is stopped."""
    found: Kept = {}
    for line in kept.read_text().splitlines() if kept.exists() else ():
        place, name, repetition, regret = json.loads(line)
        found.setdefault((place, name), {})[repetition] = regret
    with kept.open("a") as file:
        for repetition in range(repetitions):
            for landscape in landscapes:
                for name in names:
                    own = found.setdefault((landscape.name, name), {})
                    if repetition not in own:
                        own[repetition] = landscape.best - SEARCHES[name](landscape, repetition)
                        file.write(json.dumps([landscape.name, name, repetition, own[repetition]]) + "\n")
                        file.flush()
    return found


def _print_searches(found: Kept) -> None:
    """Mean regrets, and as a share of what those of before had at as many runs, in the repetitions of both."""
    print("mean regret against the best there is (points), its standard error, and as a share of before's\n")
    names = list(dict.fromkeys(name for _, name in found))
    print("| landscape | repetitions |" + "".join(f" {name} |" for name in names))
    print("|---|---:|" + "---:|" * len(names))
    for place in dict.fromkeys(place for place, _ in found):
        repetitions = sorted(set.intersection(*(set(found[place, name]) for name in names)))
        regrets = {name: 100 * np.array([found[place, name][each] for each in repetitions]) for name in names}
        cells = []
        for name, own in regrets.items():
            before = next(other for key, other in regrets.items() if key.startswith(f"{name[:8]} before"))
            share = own.mean() / before.mean()
            cells.append(f" {own.mean():.3f} ± {own.std() / np.sqrt(len(own)):.3f} ({share:.2f}) |")
        print(f"| {place} | {len(repetitions)} |" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
