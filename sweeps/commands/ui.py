"""``setsweep ui``: the MLflow UI, opened at a study's results."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import webbrowser

from setsweep.losses.values import nearest
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.mlflow.quiet import keep_quiet
from setsweep.sweeps.records.mlflow_address import PORT, database_file, server, store_uri, view_path, without_password

LISTED = 20  # studies, the last ones first

# Waits for the server that takes this process's place, then shows the page.
_OPEN_LATER = """
import sys, time, urllib.request, webbrowser
for _ in range(120):
    time.sleep(0.5)
    try:
        urllib.request.urlopen(sys.argv[1], timeout=5).close()
    except OSError:
        continue
    webbrowser.open(sys.argv[2])
    break
"""


def command(
    study: StoredStudy | None = None, *, port: int = PORT, tracking_uri: str | None = None, no_browser: bool = False
) -> int:
    """Show a study in the MLflow UI.

    Args:
        study: name of a study; default: the one that was recorded last.
        port: to listen on, on this machine alone.
        tracking_uri: the store to show; default: MLflow's own (./mlflow.db). Of a server, the address is printed.
        no_browser: open no browser window, only print the address.
    """
    uri = store_uri(tracking_uri)
    remote = uri.startswith(("http://", "https://"))
    if not remote:
        _check(uri, port)
    base = server(uri, port)
    studies = _studies(uri)
    address = base + _path(studies, study, uri)
    print(f"MLflow on {base} shows {without_password(uri)}" + ("" if remote else " (Ctrl-C ends it)"))
    for name, experiment in list(studies.items())[:LISTED] if study is None else ():
        print(f"{name}: {base}{view_path(experiment)}")
    print(f"Results{'' if study is None else f' of {study}'}: {address}", flush=True)
    show = not no_browser and (sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())
    if remote:
        if show:
            webbrowser.open(address)
        return DONE
    if show:
        subprocess.Popen([sys.executable, "-c", _OPEN_LATER, base, address])  # noqa: S603 - our own program
    _serve(uri, port)
    return DONE


def _check(uri: str, port: int) -> None:
    """Refuse at once what MLflow's server would die of slowly, or show as an empty page."""
    if not 1 <= port <= 65535:
        raise ValueError(f"--port must be between 1 and 65535, got {port}.")
    database = database_file(uri)
    if database is not None and not database.exists():
        raise ValueError(
            f"ui must be started in a folder with records, got no {database}: a study's run writes it; "
            "--tracking-uri shows records that are elsewhere."
        )
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ValueError(f"--port must be one that is free, got {port}: {error.strerror}.") from None


def _studies(uri: str) -> dict[str, str]:
    keep_quiet()
    from setsweep.sweeps.records.mlflow.client import recorded_studies  # imports MLflow, which takes seconds

    return recorded_studies(uri)


def _path(studies: dict[str, str], study: str | None, uri: str) -> str:
    if study is None:
        return view_path(next(iter(studies.values()))) if studies else ""
    if study not in studies:
        known = ", ".join(studies) or "none"
        raise ValueError(
            f"study must be one that is recorded in {without_password(uri)}, got {study!r}.{nearest(study, studies)} "
            f"Recorded: {known}."
        )
    return view_path(studies[study])


def _serve(uri: str, port: int) -> None:
    """MLflow's server takes this process's place: one worker, no job runner; the store's URI is on no command line."""
    environment = {
        **os.environ,
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": os.environ.get("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false"),
        "MLFLOW_BACKEND_STORE_URI": uri,
    }
    sys.stdout.flush()
    program = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port)]
    os.execve(sys.executable, program, environment)  # noqa: S606 - the user asked for this program
