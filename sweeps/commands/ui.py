"""``setsweep ui``: the MLflow UI on the records."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def command(*, port: int = 5000, tracking_uri: str | None = None) -> NoReturn:
    """Show the records in the MLflow UI.

    Args:
        port: to listen on, on this machine alone.
        tracking_uri: the store to show; default: MLflow's own (./mlflow.db).
    """
    uri = tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or "sqlite:///mlflow.db"
    print(f"MLflow on http://127.0.0.1:{port} shows {uri} (Ctrl-C ends it)", flush=True)
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri, "--port", str(port)]
    os.execv(sys.executable, command)  # noqa: S606 - the user asked for this program, with these arguments
