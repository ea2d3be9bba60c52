"""``run --on-end COMMAND``: a command of the user's when a sweep has ended, to send a message, say.

It is called without a shell, its arguments split as a shell would, and knows by environment variables what has ended.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Literal

State = Literal["done", "failed", "stopped", "refused"]

SECONDS = 60.0  # that it may take


def check_command(command: str | None) -> list[str]:
    """Its arguments; none where there is no command.

    Raises:
        ValueError: quotes that don't end, or a program that isn't there.
    """
    try:
        arguments = shlex.split(command or "")
    except ValueError as error:
        raise ValueError(f"--on-end must be a command, got {command!r}: {error}.") from None
    if command is not None and (not arguments or shutil.which(arguments[0]) is None):
        raise ValueError(f"--on-end must be a command that can be run, got {command!r}.")
    return arguments


def call_command(arguments: list[str], *, study: str, state: State, runs: str, report: Path | None) -> str:
    """Call it, and wait for it.

    Args:
        arguments: see `check_command`; without any nothing is called.
        study: its name.
        state: "done"; "failed": some runs have; "stopped": before the end; "refused": nothing was trained.
        runs: how many are done, e.g. "26 of 26 runs".
        report: the folder of the report, where there is one.

    Returns:
        What went wrong, for the user; empty where nothing did.
    """
    if not arguments:
        return ""
    told = {
        "SETSWEEP_STUDY": study,
        "SETSWEEP_STATE": state,
        "SETSWEEP_RUNS": runs,
        "SETSWEEP_REPORT": "" if report is None else str(report.absolute()),
    }
    try:
        ended = subprocess.run(arguments, env={**os.environ, **told}, check=False, timeout=SECONDS)  # noqa: S603 - the user's
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"--on-end: {shlex.join(arguments)} has not ended: {error}"
    return f"--on-end: {shlex.join(arguments)} ended with {ended.returncode}." if ended.returncode else ""
