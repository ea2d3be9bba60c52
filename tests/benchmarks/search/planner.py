"""What planning costs: a study of 10,000 runs with a race, and one of 5,000 trials, planned, stored, read again.

    python tests/benchmarks/search/planner.py [--sampler tpe]

prints a Markdown table of CPU seconds. Nothing is trained: every run has its made-up result at once. `status` is the
command itself in a process of its own, Python's start and imports included.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import open_journal, stored_planner
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

RACED = """
study: raced
data: {{name: digits}}
model: {{name: linear}}
training: {{epochs: 10}}
k: [1, 2]
arms: {{avgk: {{alpha: default_space}}, noised_topk_hinge: {{epsilon: default_space}}}}
grid: {{data.label_noise: {noises}}}
search: {{trials: 12, sampler: {sampler}, objective: val/avg2_accuracy, race: {{seeds: 9}}}}
confirm: {{seeds: 4}}
"""
MANY = """
study: many
data: {{name: digits}}
model: {{name: linear}}
training: {{epochs: 10}}
k: [1, 2]
arms: {{avgk: {{alpha: default_space, training.optimizer.lr: {{log_uniform: [0.01, 1]}}}}}}
search: {{trials: 5000, sampler: {sampler}, objective: val/avg2_accuracy}}
"""
EPOCHS = 10


def main() -> None:
    """Measure both studies and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sampler", default="tpe", help="of the study with a race; that of 5,000 trials is qmc")
    parser.add_argument("--again", nargs=2, metavar=("FILE", "STORAGE"), help="for its own processes")
    options = parser.parse_args()
    if options.again:
        _again(*options.again)
        return
    noises = [round(i / 200, 3) for i in range(100)]
    print("| study | runs | planned, ms a run | read again and planned, s | `status`, s |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        _measure(RACED.format(noises=noises, sampler=options.sampler), Path(folder))
        _measure(MANY.format(sampler="qmc"), Path(folder))


def _measure(text: str, storage: Path) -> None:
    file = storage / "study-file.yaml"
    file.write_text(text)
    study = read_study(str(file))
    folder = storage / study.name
    planned, runs = _play(study, folder)
    again = subprocess.run(
        [sys.executable, __file__, "--again", str(file), str(storage)], check=True, capture_output=True, text=True
    ).stdout.strip()
    row = (f"{runs}", f"{1000 * planned / runs:.2f}", again, f"{_status(study, storage):.2f}")
    print(f"| {study.name} | {' | '.join(row)} |", flush=True)


def _again(file: str, storage: str) -> None:
    """Print the CPU seconds of reading the journal and planning again; Optuna is not imported for it."""
    study = read_study(file)
    began = time.process_time()
    planner = stored_planner(study, Path(storage) / study.name)
    seconds = time.process_time() - began
    assert planner.done == planner.total
    assert "optuna" not in sys.modules
    print(f"{seconds:.2f}")


def _play(study: Study, folder: Path) -> tuple[float, int]:
    """CPU seconds of the planner alone, and how many runs; the journal is written beside it."""
    seconds, told = 0.0, []
    with open_journal(study, folder) as journal:
        began = time.process_time()
        planner = Planner(study, journal.results, journal.trials)
        seconds += time.process_time() - began
        while True:
            began = time.process_time()
            run = planner.next_run()
            new = planner.new_trials()
            seconds += time.process_time() - began
            journal.add_trials(new)
            if not isinstance(run, PlannedRun):
                for first in range(0, len(told), 50):
                    journal.add_all(told[first : first + 50])
                return seconds, planner.total
            result = _result(run)
            told.append((run, result))
            began = time.process_time()
            planner.tell(result)
            seconds += time.process_time() - began


def _result(run: PlannedRun) -> RunResult:
    """As large as those of digits: 24 metrics and as many curves on validation."""
    draw = random.Random(run.key)
    names = [f"{rule}{k}_accuracy" for rule in ("top", "avg", "macro_top", "macro_avg") for k in (1, 2)]
    names += [f"avg{k}_set_size" for k in (1, 2)]
    splits = ("val",) if run.stage == "search" else ("val", "test")
    metrics = {f"{split}/{name}": draw.random() for split in splits for name in names}
    curves = {f"val/{name}": tuple(draw.random() for _ in range(EPOCHS)) for name in (*names, "loss")}
    return RunResult(
        key=run.key, status="done", metrics=metrics, epochs=tuple(range(1, EPOCHS + 1)), curves=curves, host="here"
    )


def _status(study: Study, storage: Path) -> float:
    """CPU seconds of the command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "setsweep.sweeps", "status", study.name, "--storage", str(storage)]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
