"""What the commands of a moment cost: CPU seconds of a process each, Python's start and all imports included.

    python tests/benchmarks/sweep/start.py [--rounds 5]

prints a Markdown table, the least of some rounds. `status` of a large study is in `tests/benchmarks/search/planner.py`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

COMMANDS = (
    "--help",
    "--version",
    "studies",
    "losses",
    "datasets",
    "fields",
    "show demo",
    "check nothing",
    "check demo",
)
STANDARDS = {"Python alone": ["-c", ""], "Python and torch": ["-c", "import torch"]}


def seconds(arguments: list[str]) -> float:
    """Of one process; that a study of the name `none` is refused is meant."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds: int) -> None:
    """Print the table."""
    commands = {f"`setsweep {command}`": ["-m", "setsweep.sweeps", *command.split()] for command in COMMANDS}
    print("| | CPU, s |\n| --- | --- |")
    for name, arguments in {**STANDARDS, **commands}.items():
        print(f"| {name} | {min(seconds(arguments) for _ in range(rounds)):.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    main(parser.parse_args().rounds)
