"""Whether MLflow can be written: a server that answers and lets this user in, a database with the tables it needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from setsweep.sweeps.commands.health.clock import compare_clock
from setsweep.sweeps.commands.health.finding import Finding
from setsweep.sweeps.records.mlflow_address import database_file, store_uri, without_password

SECONDS = 10.0
SIGN_IN = "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN."
UPGRADE = "Keep a copy ('setsweep backup'; a server: its own), stop what uses it, then: mlflow db upgrade {}"


def check_records(tracking_uri: str | None) -> Iterator[Finding]:
    """The store that a study would be recorded in. Raises ValueError: a URI of a kind that MLflow has no store for."""
    uri = store_uri(tracking_uri)
    shown = without_password(uri)
    if uri.startswith(("http://", "https://")):
        yield from _server(uri, shown)
    elif (file := database_file(uri)) is not None and not file.exists():
        yield Finding(of="MLflow", said=f"{shown} is made by the first study that is recorded")
    elif "://" in uri and not uri.startswith("file:"):
        yield _database(uri, shown)
    else:
        yield Finding(of="MLflow", said=shown)


def _server(uri: str, shown: str) -> Iterator[Finding]:
    import requests

    user, password = os.environ.get("MLFLOW_TRACKING_USERNAME"), os.environ.get("MLFLOW_TRACKING_PASSWORD")
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    session = requests.Session()
    if user:
        session.auth = (user, password or "")
    elif token:
        session.headers["Authorization"] = f"Bearer {token}"
    try:
        told = session.get(f"{uri.rstrip('/')}/version", timeout=SECONDS)
        asked = session.get(f"{uri.rstrip('/')}/api/2.0/mlflow/experiments/search?max_results=1", timeout=SECONDS)
    except requests.RequestException as error:
        mend = "Start it, or give another --tracking-uri; results wait in the journal meanwhile."
        yield Finding(of="MLflow", state="wrong", said=f"{shown} does not answer: {type(error).__name__}.", mend=mend)
        return
    yield from compare_clock("the MLflow server", asked.headers.get("Date"))
    if asked.status_code in (401, 403):
        said = f"{shown} does not let this user in (HTTP {asked.status_code})."
        yield Finding(of="MLflow", state="wrong", said=said, mend=SIGN_IN)
    elif asked.status_code != 200:
        said = f"{shown} answers with HTTP {asked.status_code}: no MLflow server, or one whose database is away."
        yield Finding(of="MLflow", state="wrong", said=said, mend="Look into the server's log.")
    else:
        there = told.text.strip() if told.status_code == 200 else "unknown"
        said = f"{shown} answers, version {there} (here {version('mlflow')})"
        older = there.split(".")[0] != version("mlflow").split(".")[0]
        mend = "Install the server's version here, or the other way round." if older else ""
        yield Finding(of="MLflow", state="note" if older else "well", said=said, mend=mend)


def _database(uri: str, shown: str) -> Finding:
    """Whether the database has the tables of the MLflow that is installed."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        engine = create_engine(uri)
        with engine.connect() as connection:
            there = connection.execute(text("select version_num from alembic_version")).scalar()
        engine.dispose()
    except (SQLAlchemyError, ImportError) as error:
        said = f"{shown} can't be read: {str(error).splitlines()[0][:150]}"
        return Finding(of="MLflow", state="wrong", said=said, mend="Give the --tracking-uri of a database of MLflow's.")
    wanted = newest_schema()
    if there != wanted:
        said = f"{shown} has the schema {there}, and MLflow {version('mlflow')} needs {wanted}."
        return Finding(of="MLflow", state="wrong", said=said, mend=UPGRADE.format(shown))
    return Finding(of="MLflow", said=f"{shown} has the schema of MLflow {version('mlflow')}")


def newest_schema() -> str | None:
    """The revision of the tables that the installed MLflow uses."""
    from alembic.script import ScriptDirectory

    spec = find_spec("mlflow")
    assert spec is not None
    assert spec.origin is not None
    return ScriptDirectory(str(Path(spec.origin).parent / "store" / "db_migrations")).get_current_head()
