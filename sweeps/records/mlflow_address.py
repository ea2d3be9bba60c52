"""Where MLflow's records are: the store that a user means, what may be shown of its URI, and the address of a study's
results in the MLflow UI. No MLflow needed.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import time
import urllib.parse
import urllib.request
from pathlib import Path

SCHEMES = ("http", "https", "sqlite", "postgresql", "mysql", "mssql", "file", "databricks", "databricks-uc")
RECORDED = "recorded.json"  # in the folder of a study: where it was recorded last
KNOCK_SECONDS = 5.0
WELL_KNOWN = {"http": 80, "https": 443}
PORT = 5000  # of `setsweep ui`, like MLflow's own
RESULTS, TREE, CURVES, SEEDS, SEARCH, FAILURES = "means", "tree", "curves", "seeds", "search", "failures"  # views
SENSITIVITY = "sensitivity"
AS_CHARTS = (CURVES, SEEDS, SEARCH, SENSITIVITY)


def store_uri(uri: str | None) -> str:
    """The store in full: where none is given, MLflow's setting or its default, a database in the current folder.

    Raises:
        ValueError: a URI of a kind that MLflow has no store for.
    """
    full = uri or os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{Path.cwd() / 'mlflow.db'}"
    scheme = urllib.parse.urlsplit(full).scheme.partition("+")[0]
    if scheme and scheme not in SCHEMES:
        raise ValueError(f"--tracking-uri must begin with one of {', '.join(SCHEMES)}, got {without_password(full)!r}.")
    return full


def check_answers(uri: str) -> None:
    """Whether somebody listens where an MLflow server should be; of other stores nothing is asked.

    Raises:
        ValueError: nobody does, also when asked again after a while.
    """
    parts = urllib.parse.urlsplit(uri)
    if parts.scheme not in WELL_KNOWN or _by_proxy(parts):
        return
    deadline = time.monotonic() + KNOCK_SECONDS
    while True:
        try:
            socket.create_connection((parts.hostname or "", parts.port or WELL_KNOWN[parts.scheme]), 5.0).close()
        except (OSError, ValueError) as error:
            if time.monotonic() < deadline:  # it may be starting
                time.sleep(0.5)
                continue
            raise ValueError(
                f"--tracking-uri must be where an MLflow server answers when a sweep starts, got "
                f"{without_password(uri)!r}: {error}. Without a server, leave it out or give sqlite:///mlflow.db; "
                "'setsweep record' copies the results to a server later."
            ) from None
        return


def _by_proxy(parts: urllib.parse.SplitResult) -> bool:
    """Whether another machine is asked for it, as the environment says."""
    return parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(parts.hostname or "")


def database_file(uri: str) -> Path | None:
    """The file of a SQLite database; None: the store is none."""
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


def without_password(uri: str) -> str:
    """The URI as it may be shown."""
    parts = urllib.parse.urlsplit(uri)
    if parts.password is None:
        return uri
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")).geturl()


def server(uri: str, port: int = PORT) -> str:
    """The address of the MLflow UI on a store, without name and password: the server itself, or `setsweep ui` here."""
    parts = urllib.parse.urlsplit(uri)
    if parts.scheme not in ("http", "https"):
        return f"http://127.0.0.1:{port}/"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/") + "/"


def view_path(experiment_id: str, view: str = RESULTS) -> str:
    """The address of a view of an experiment on an MLflow server, from the ``#`` on."""
    mode = "&compareRunsMode=CHART" if view in AS_CHARTS else ""
    return f"#/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={view}{mode}"


def ui_command(study: str, uri: str | None) -> str:
    """The command that shows a study of a local store; empty where a server shows it."""
    full = store_uri(uri)
    if full.startswith(("http://", "https://")):
        return ""
    option = f" --tracking-uri {shlex.quote(without_password(uri))}" if uri else ""
    return f"setsweep ui {shlex.quote(study)}{option}"


def recorded_address(folder: Path) -> str | None:
    """Where the results of a study are in the MLflow UI, as its last recording has left it; None: nowhere yet."""
    path = folder / RECORDED
    if not path.exists():
        return None
    recorded: dict[str, str] = json.loads(path.read_text())
    return recorded.get("address")
