"""What stopping trials within their training saves, and whether the winner stays: on recorded curves.

    python tests/benchmarks/search/pruning.py FOLDER [--repetitions N] [--trials N]

Replays `make.py`'s real runs: in each repetition so many configurations in random order, all with one of the recorded
seeds, in batches of 4. What a rule stops is cut where it would have been. Told are the epochs saved (% of the
search's), how often the trial that is chosen without stopping is chosen with it (%), and what the choice loses on
average (points, in the mean over all recorded seeds).
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

from setsweep.sweeps.planning.choice import best_first
from setsweep.sweeps.planning.pruning import Ended, bounds
from setsweep.sweeps.study.study import Pruner
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.config.stopping import Stopping

METRIC = "val/avg2_accuracy"
BATCH = 4
RULES = {
    "median": Pruner(name="median"),
    "median, warmup: 3": Pruner(name="median", warmup=3),
    "median, startup: 4": Pruner(name="median", startup=4),
    "successive_halving": Pruner(name="successive_halving"),
    "successive_halving, factor: 2": Pruner(name="successive_halving", factor=2),
    "successive_halving, startup: 4": Pruner(name="successive_halving", startup=4),
    "successive_halving, warmup: 3": Pruner(name="successive_halving", warmup=3),
}

Recorded = dict[str, dict[int, list[float]]]  # configuration, seed: the best so far after each epoch


def recorded(path: Path) -> Recorded:
    """The curves of a journal's search."""
    found: Recorded = {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    for record in (each for line in lines for each in line.get("results", [line])):
        if record["record"] == "result" and record["stage"] == "search":
            result, config = RunResult.from_dict(record["result"]), record["config"]
            so_far: list[float] = []
            for value in result.curves[METRIC]:
                so_far.append(max([value, *so_far[-1:]]))
            name = json.dumps([config["loss"], config["training"]["optimizer"]])
            found.setdefault(name, {})[config["seed"]] = so_far
    return found


def searched(curves: list[list[float]], pruner: Pruner | None) -> tuple[int, int]:
    """Which trial a search chooses, and how many epochs it trains."""
    trials: list[Ended] = []
    for first in range(0, len(curves), BATCH):
        below = () if pruner is None else bounds(pruner, trials)
        stopping = Stopping(metric=METRIC, seeds=(0,), below=below)
        for curve in curves[first : first + BATCH]:
            ends = (epoch for epoch in range(1, len(curve)) if stopping.stops(epoch, {0: curve[epoch - 1]}))
            last = next(ends, len(curve))
            trials.append(Ended(dict(enumerate(curve[:last], 1)), last < len(curve)))
    means = {number: trial.curve[len(trial.curve)] for number, trial in enumerate(trials)}
    stopped = [number for number, trial in enumerate(trials) if trial.stopped]
    return best_first(means, stopped)[0], sum(len(trial.curve) for trial in trials)


def compared(found: Recorded, pruner: Pruner, repetitions: int, count: int) -> tuple[float, float, float]:
    """Epochs saved and winners kept (shares), and what the choice loses (points)."""
    draw = random.Random(0)
    names = sorted(found)
    truth = {name: sum(curve[-1] for curve in seeds.values()) / len(seeds) for name, seeds in found.items()}
    saved = kept = lost = 0.0
    for _ in range(repetitions):
        tried = draw.sample(names, min(count, len(names)))
        seed = draw.choice(sorted(set.intersection(*(set(found[name]) for name in tried))))
        curves = [found[name][seed] for name in tried]
        (whole, epochs), (chosen, fewer) = searched(curves, None), searched(curves, pruner)
        saved += 1 - fewer / epochs
        kept += chosen == whole
        lost += 100 * (truth[tried[whole]] - truth[tried[chosen]])
    return saved / repetitions, kept / repetitions, lost / repetitions


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=20)
    options: Any = parser.parse_args()
    journals = sorted(options.folder.glob("*/journal.jsonl"))
    print("| rule | " + " | ".join(path.parent.name for path in journals) + " |")
    print("|---|" + "---:|" * len(journals))
    recordings = [recorded(path) for path in journals]
    for name, pruner in RULES.items():
        cells = (compared(found, pruner, options.repetitions, options.trials) for found in recordings)
        print(f"| {name} | " + " | ".join(f"{100 * s:.0f}, {100 * k:.1f}, {lost:.3f}" for s, k, lost in cells) + " |")


if __name__ == "__main__":
    main()
