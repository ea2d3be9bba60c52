"""What a failed run leaves in its study's folder: ``runs/KEY/``, with all that is needed to look for the cause.

``config.yaml`` is the run, which ``setsweep train`` takes; ``reason.txt`` says why it ended; ``traceback.txt`` and
``output.txt`` are of a run that raised an error: where, and the last lines that it wrote. A run that ends well when it
is tried again has its folder removed.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.settings.yaml_text import dump_yaml

FOLDER = "runs"


@dataclass(frozen=True)
class FailedRuns:
    """Watches a sweep and writes the folders.

    Args:
        folder: of the study.
    """

    folder: Path

    def started(self, run: PlannedRun) -> None:
        """Nothing yet."""

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run has its result."""
        folder = run_folder(self.folder, run.key)
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier attempt, which may have failed otherwise
        if result.status == "done":
            return
        folder.mkdir(parents=True, exist_ok=True)
        files = {"config.yaml": dump_yaml(run.config.to_dict()), "reason.txt": f"{result.status}: {result.reason}\n"}
        if result.trace is not None:
            files |= {"traceback.txt": result.trace.traceback, "output.txt": result.trace.output}
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")

    def tick(self) -> None:
        """Nothing now."""


def run_folder(folder: Path, key: str) -> Path:
    """Of a run of a study."""
    return folder / FOLDER / key
