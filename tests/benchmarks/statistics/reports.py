"""What a report of 10,000 runs costs: `setsweep report` and `setsweep sensitivity` on made-up results.

    python tests/benchmarks/statistics/reports.py [--only compared]

prints a Markdown table of CPU seconds of commands in processes of their own, Python's start and imports included: the
least of three; once `sensitivity`, and `--out`, which draws figures at every grid point. Three studies: one that
compares four arms at 100 grid points, also with hits and `compare.images`; one that searches at 20; one whose
sensitivity study is a full grid.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import open_journal
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.hits import Hits
from setsweep.trainables.config.run_result import RunResult

IMAGES, EPOCHS, TIMES = 10_000, 10, 3
COMMON = """
study: {name}
data: {{name: digits}}
model: {{name: linear}}
training: {{epochs: 10}}
k: [1, 2]
"""
COMPARED = """
arms: {{cross_entropy: {{}}, avgk: {{}}, focal: {{}}, ldam: {{}}}}
grid: {{data.label_noise: {noises}}}
confirm: {{seeds: 25}}
compare: {{baseline: cross_entropy, images: {images}}}
"""
SEARCHED = """
arms: {{cross_entropy: {{}}, avgk: {{alpha: default_space}}, noised_topk_hinge: {{epsilon: default_space}}}}
grid: {{data.label_noise: {noises}}}
search: {{trials: 240, sampler: qmc, objective: val/avg2_accuracy}}
confirm: {{seeds: 8}}
compare: {{baseline: cross_entropy}}
"""
VARIED = """
arms: {{cross_entropy: {{}}, avgk: {{}}}}
confirm: {{seeds: 10}}
sensitivity: {{avgk.alpha: 33, training.batch_size: {sizes}, seeds: 10}}
compare: {{baseline: cross_entropy}}
"""
NOISES = [round(i / 200, 3) for i in range(100)]
STUDIES = {
    "compared": COMPARED.format(noises=NOISES, images="false"),
    "images": COMPARED.format(noises=NOISES, images="true"),
    "searched": SEARCHED.format(noises=NOISES[:20]),
    "varied": VARIED.format(sizes=list(range(8, 8 + 2 * 30, 2))),
}


def main(only: str | None) -> None:
    """Measure every study and print the table."""
    print("| study | runs | MiB of journal | `report`, s | `report --out`, s | `sensitivity`, s |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, text in STUDIES.items():
        if only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                print(f"| {name} | {' | '.join(_measured(name, COMMON.format(name=name) + text, Path(folder)))} |")


def _measured(name: str, text: str, storage: Path) -> list[str]:
    file = storage / "study-file.yaml"
    file.write_text(text)
    study = read_study(str(file))
    folder = storage / study.name
    runs = _play(study, folder, hits=name == "images")
    size = (folder / "journal.jsonl").stat().st_size / 2**20
    place = ("--storage", str(storage))
    varies = study.sensitivity is not None or study.search is not None
    return [
        f"{runs}",
        f"{size:.0f}",
        f"{_seconds('report', name, *place):.1f}",
        f"{_seconds('report', name, *place, '--out', str(storage / 'out'), times=1):.1f}",
        f"{_seconds('sensitivity', name, *place, times=1):.1f}" if varies else "",
    ]


def _play(study: Study, folder: Path, *, hits: bool) -> int:
    """Run a study on made-up results; how many there are."""
    told: list[tuple[PlannedRun, RunResult]] = []
    with open_journal(study, folder) as journal:
        planner = Planner(study, journal.results, journal.trials)
        while isinstance(run := planner.next_run(), PlannedRun):
            journal.add_trials(planner.new_trials())
            told.append((run, _result(run, hits=hits)))
            planner.tell(told[-1][1])
        for first in range(0, len(told), 50):
            journal.add_all(told[first : first + 50])
        return planner.total


def _result(run: PlannedRun, *, hits: bool) -> RunResult:
    """As large as those of digits: 24 metrics and as many curves on validation; better in the middle of a range."""
    draw = random.Random(run.key)
    level = 0.8 - 0.05 * abs(float(run.params.get("alpha", run.params.get("epsilon", 1.0))) - 1) ** 0.5
    names = [f"{rule}{k}_accuracy" for rule in ("top", "avg", "macro_top", "macro_avg") for k in (1, 2)]
    splits = ("val",) if run.stage == "search" else ("val", "test")
    metrics = {f"{split}/{name}": level + draw.gauss(0, 0.01) for split in splits for name in names}
    metrics |= {f"{split}/avg{k}_set_size": float(k) for split in splits for k in (1, 2)}
    curves = {f"val/{name}": tuple(draw.random() for _ in range(EPOCHS)) for name in (*names, "loss")}
    bits = {name: draw.randbytes(IMAGES // 8) for name in names if not name.startswith("macro")}
    return RunResult(
        key=run.key,
        status="done",
        metrics=metrics,
        epochs=tuple(range(1, EPOCHS + 1)),
        curves=curves,
        host="here",
        hits=Hits(IMAGES, "made up", bits) if hits else None,
    )


def _seconds(*command: str, times: int = TIMES) -> float:
    """CPU seconds of a command of ours: the least of a few times."""
    return min(_once(["-m", "setsweep.sweeps", *command]) for _ in range(times))


def _once(arguments: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=STUDIES)
    main(parser.parse_args().only)
