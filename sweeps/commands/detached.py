"""A study that runs on in the background of this machine, when its terminal is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.records.study_folder import stored_study
from setsweep.sweeps.records.writing import writing_process

OUTPUT = "output.log"
REFUSED_SECONDS = 60.0  # for the process to begin the study, or to say why it can't
POLL_SECONDS = 0.2


def begin(words: Sequence[str], name: str, folder: Path) -> int:
    """Start a command in the background, and wait until it writes the study or has ended.

    Args:
        words: our command and its arguments.
        name: of the study.
        folder: of the study; what the command says goes into a file in it.

    Returns:
        The command's exit code where it has ended already, else 0.

    Raises:
        ValueError: the study runs already, or the folder can't be written.
    """
    if (other := writing_process(folder)) is not None:
        raise ValueError(f"study {name!r} must not run already, got process {other}. 'setsweep stop {name}' ends it.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / OUTPUT).open("w", encoding="utf-8") as log:
            process = subprocess.Popen(  # noqa: S603 - this program itself
                [sys.executable, "-m", "setsweep.sweeps", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a terminal that is closed ends what belongs to its session
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
    except OSError as error:
        raise ValueError(
            f"--storage must be a folder that can be written, got {str(folder)!r}: {error.strerror}."
        ) from None
    deadline = time.monotonic() + REFUSED_SECONDS
    while process.poll() is None and writing_process(folder) != process.pid and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    if process.returncode is not None:
        print((folder / OUTPUT).read_text(encoding="utf-8"), end="")
        return process.returncode
    process.returncode = 0  # it is nobody's child from now on, and not to be waited for
    print(f"{name} runs in the background, process {process.pid}. What it says: {folder / OUTPUT}")
    print(f"setsweep logs {name} --follow    and: status, stop")
    return DONE


def follow_here(study: str, storage: str) -> int:
    """What a study that runs in the background says, until it ends. Raises ValueError: it was never begun so."""
    read, folder = stored_study(study, storage)
    log = folder / OUTPUT
    if not log.exists():
        raise ValueError(f"study {read.name!r} must have been begun by 'setsweep run --detach', got no {log}.")
    with log.open(encoding="utf-8") as said:
        while True:
            runs = writing_process(folder) is not None  # asked before reading: what comes last is read
            print(said.read(), end="", flush=True)
            if not runs:
                return DONE
            time.sleep(POLL_SECONDS)
