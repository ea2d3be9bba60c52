"""Ends in MLflow what a killed sweep has left RUNNING there: a small process that outlives the sweep by a moment.

It waits for the end of a pipe that only the sweep holds open, whatever ends it, kill -9 included. MLflow is imported
then, not before. If another session has taken up the study meanwhile, all is left to that one.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from typing import Self

SESSION = "mlflow.setsweep.session"  # tag of a study's run: which process has it open

_WAIT = "import sys; sys.stdin.read() or __import__('setsweep.sweeps.records.mlflow.guard', fromlist=['x']).end_all()"


def session() -> str:
    """Names this process."""
    return f"{socket.gethostname()} {os.getpid()}"


class Guard:
    """Watches over a study's run while this process lives. Leave it as a context once nothing is RUNNING any more.

    Args:
        uri: of the store.
        run_id: of the study's run.
    """

    def __init__(self, uri: str, run_id: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", _WAIT],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what kills a sweep's process group leaves it
            env={**os.environ, "SETSWEEP_GUARDED": run_id, "SETSWEEP_SESSION": session(), "MLFLOW_TRACKING_URI": uri},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as pipe:
            pipe.write(b"" if kind else b"nothing is RUNNING")
        self._process.wait(timeout=60)


def end_all() -> None:
    """End what is RUNNING of the study that the environment names."""
    from setsweep.sweeps.records.mlflow.quiet import keep_quiet

    keep_quiet()
    from mlflow import MlflowClient

    client = MlflowClient()
    study = client.get_run(os.environ["SETSWEEP_GUARDED"])
    if study.data.tags.get(SESSION) != os.environ["SETSWEEP_SESSION"]:
        return
    experiment, running = [study.info.experiment_id], "attributes.status = 'RUNNING'"
    now = round(time.time() * 1000)
    while page := client.search_runs(experiment, running, max_results=1000):
        for run in page:
            client.set_terminated(run.info.run_id, "KILLED", now)
