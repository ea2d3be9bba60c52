"""What a command of a moment must not import: each of these libraries takes longer than the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "numpy", "scipy", "sklearn", "pandas", "matplotlib", "PIL", "optuna", "ray", "mlflow")
STORED = Path(__file__).parent / "records/version_3"  # holds a study that has been run
CODE = """
import contextlib, io, json, sys
from setsweep.sweeps.cli import main
arguments = json.loads(sys.argv[1])
with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
    code = main(arguments)
print(json.dumps([printed.getvalue(), sorted(sys.modules.keys() & set(json.loads(sys.argv[2])))]))
"""


def imported(*arguments: str) -> tuple[str, list[str]]:
    """What a command prints, and which heavy libraries its process has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(arguments), json.dumps(HEAVY)],
        check=True,
        capture_output=True,
        text=True,
    )
    printed, found = json.loads(done.stdout)
    return printed, found


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--help",), "status"),
        (("--version",), "."),
        (("studies",), "garcin2023-cifar100"),
        (("losses",), "noised_topk_hinge"),
        (("datasets",), "plantnet300k"),
        (("models",), "densenet_40_40"),
        (("fields",), "what is asked"),
        (("show", "demo"), "study: demo"),
        (("status", "small", "--storage", str(STORED)), "noised_topk_hinge"),
        (("status", "--storage", str(STORED)), "small"),
    ],
)
def test_what_only_tells_imports_no_heavy_library(arguments: tuple[str, ...], says: str) -> None:
    printed, found = imported(*arguments)

    assert says in printed
    assert found == []


@pytest.mark.parametrize("command", ["report", "sensitivity", "compare"])
def test_what_reads_results_does_without_torch(command: str) -> None:
    """Torch alone takes 1.5 s, and what a run has come to needs no tensor."""
    studies = ("small", "small") if command == "compare" else ("small",)

    printed, found = imported(command, *studies, "--storage", str(STORED))

    assert "avgk" in printed
    assert not set(found) & {"torch", "optuna", "ray", "mlflow", "matplotlib"}


def test_mistakes_in_a_study_are_told_before_torch_is_imported(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("study: mine\n")

    _, found = imported("check", str(tmp_path / "study.yaml"))

    assert found == []
