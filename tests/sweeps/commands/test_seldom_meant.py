"""Studies that nobody means: ``plan``, ``check`` and ``run`` refuse them, or warn of them, alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("commands", "fields", "message"),
    [
        (("plan", "run"), ("resources.cpus=1000",), "resources must fit on this machine, with "),
        (("plan", "run"), ("training.epochs=1000000000000",), "must be so many that a run ends within a year"),
    ],
)
def test_what_can_not_end_well_is_refused(
    setsweep: Any, small: Path, commands: tuple[str, ...], fields: tuple[str, ...], message: str
) -> None:
    changed = [part for field in (*fields, "search=null", "arms.avgk.alpha=1") for part in ("--set", field)]
    for command in commands:
        said = setsweep(command, small, *changed, *(["--in-process"] if command == "run" else []))
        assert said.code == 2, command
        assert message in said.err, command
    assert not list(Path().glob("setsweep-results/*/models"))


def test_slots_that_there_can_not_be_are_refused(setsweep: Any, small: Path) -> None:
    said = setsweep("plan", small, "--slots", -3)
    assert (said.code, said.err) == (2, "setsweep: --slots must be >= 1, got -3.\n")


def test_what_is_seldom_meant_is_warned_of(setsweep: Any, small: Path) -> None:
    (small.parent / "rate.yaml").write_text("seconds_per_epoch: {cross_entropy: 3, avgk: 5}\n")
    changed = ("--set", "training.evaluate_every=9", "--set", "confirm.seeds=1")
    plan = setsweep("plan", small, *changed, "--rate", "rate.yaml", "--slots", 1).out
    for said in (plan, setsweep("check", small, *changed).out, setsweep("run", small, *changed, "--in-process").err):
        assert "Note: training.evaluate_every: 9 is beyond training.epochs = 2: runs are evaluated once" in said
        assert "Note: confirm.seeds: one seed gives no interval and no test;" in said


def test_a_quiet_run_prints_its_table_alone_and_a_verbose_one_each_run(setsweep: Any, small: Path) -> None:
    loud = setsweep("run", small, "--in-process", "-v", "--storage", "a")
    lines = [line for line in loud.err.splitlines() if line.startswith("done: ")]
    assert len(lines) == 7
    assert any(line.startswith("done: cross_entropy seed 0: val/avg1_accuracy ") for line in lines), lines
    quiet = setsweep("run", small, "--in-process", "-q", "--storage", "b")
    assert (quiet.code, quiet.err, quiet.out) == (0, "", loud.out)
    assert setsweep("check", small, "-q") == type(quiet)(0, "", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_all_commands_and_options(setsweep: Any, shell: str) -> None:
    said = setsweep("completion", shell)
    assert said.code == 0
    for word in ("sensitivity", "retry-failed", "import"):
        assert word in said.out
