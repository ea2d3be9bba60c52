"""``setsweep ui`` before MLflow's own server takes over."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

import pytest


@pytest.mark.parametrize(
    ("option", "environment", "shown"),
    [
        ("sqlite:///given.db", "sqlite:///set.db", "sqlite:///given.db"),
        (None, "sqlite:///set.db", "sqlite:///set.db"),
        (None, None, "sqlite:///mlflow.db"),
    ],
)
def test_the_store_that_is_shown_is_the_one_given_else_the_one_set_else_mlflows_default(
    spawn: Callable[..., subprocess.Popen[str]],
    monkeypatch: pytest.MonkeyPatch,
    option: str | None,
    environment: str | None,
    shown: str,
) -> None:
    if environment is not None:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", environment)
    process = spawn("ui", "--port", 5999, *([] if option is None else ["--tracking-uri", option]))
    assert process.stdout is not None
    said = process.stdout.readline()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert said == f"MLflow on http://127.0.0.1:5999 shows {shown} (Ctrl-C ends it)\n"
