"""Sweep efficiency and bookkeeping, Setsweep beside its peers in one run of this program.

    python tests/benchmarks/sweep/compare.py efficiency [--peers ours hand_tuned tutorial pool]
    python tests/benchmarks/sweep/compare.py bookkeeping [--runs 200 800] [--peers ours hand_tuned]

prints a Markdown table. *Efficiency* is seconds of training / (wall seconds x slots) for 24 runs of some seconds,
with everything recorded in MLflow on SQLite; *bookkeeping* is wall seconds a run for runs that train nothing. The clock
starts when Ray is up and stops with the last record. Every measurement has a process of its own.

Where a sweep is short, much of what it loses is the import of torch and Ray Tune in every worker. An installation by
pip has their modules compiled; where they are not, importing them takes twice as long, and a note says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PEERS = ("pool", "ours", "hand_tuned", "tutorial")
NAMES = {
    "pool": "bare pool of warm processes, nothing recorded",
    "ours": "Setsweep",
    "hand_tuned": "Ray Tune tuned by hand",
    "tutorial": "Ray Tune as in its tutorial",
}
SLOTS = 2


def measure(peer: str, workload: str, runs: int) -> dict[str, Any]:
    """One peer on one workload in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = ["ours.py"] if peer == "ours" else ["peers.py", peer]
        command = [sys.executable, str(HERE / script[0]), *script[1:], workload, str(runs), str(SLOTS), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{peer} failed:\n{done.stderr[-3000:]}")
    measured: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


def compiled() -> bool:
    """Whether torch's modules are compiled, or else compiled again by every process that imports them."""
    torch = importlib.util.find_spec("torch")
    return torch is not None and torch.cached is not None and Path(torch.cached).exists()


def efficiency(peers: list[str]) -> None:
    """24 runs of some seconds of training on two slots."""
    print("| | efficiency | wall, s | training a run, s |\n| --- | --- | --- | --- |")
    for peer in peers:
        m = measure(peer, "train_small", 24)
        share = m["training_seconds"] / (m["seconds"] * m["slots"])
        print(
            f"| {NAMES[peer]} | {share:.3f} | {m['seconds']:.1f} | {m['training_seconds'] / m['runs']:.2f} |",
            flush=True,
        )


def bookkeeping(peers: list[str], counts: list[int]) -> None:
    """Runs that cost nothing but their bookkeeping."""
    print("| | runs | seconds a run | driver, MiB |\n| --- | --- | --- | --- |")
    for runs in counts:
        for peer in peers:
            m = measure(peer, "no_op", runs)
            memory = f"{m['driver_mib']:.0f}" if "driver_mib" in m else "-"
            print(f"| {NAMES[peer]} | {runs} | {m['seconds'] / runs:.3f} | {memory} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("efficiency", "bookkeeping"))
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--runs", nargs="+", type=int, default=[200, 800])
    given = parser.parse_args()
    if not compiled():
        print("Note: installed modules are not compiled ('python -m compileall'): every worker starts slowly.\n")
    if given.what == "efficiency":
        efficiency(given.peers)
    else:
        bookkeeping([peer for peer in given.peers if peer != "pool"], given.runs)


if __name__ == "__main__":
    main()
