"""What tests need that ask MLflow's store themselves, without the recorder."""

from __future__ import annotations

import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, create_engine, select
from sqlalchemy.pool import NullPool

from setsweep.sweeps.records.mlflow.quiet import keep_quiet
from setsweep.sweeps.records.mlflow_pages.rows import CONTENT
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.study.study import Study

CREATE = "import sys, mlflow; mlflow.MlflowClient(sys.argv[1]).search_experiments()"

Tables = dict[str, list[tuple[Any, ...]]]

MOMENTS = ("creation_time", "last_update_time")  # columns that say when something was written


@pytest.fixture
def quiet() -> None:
    """MLflow warns of itself where it is imported, which the recorder has silenced."""
    keep_quiet()


@pytest.fixture
def write_histories(study: Study, make_pair: Any, make_study: Any, results: Any) -> Callable[[str], None]:
    """Calls write two studies into a store, with all that a study can go through."""
    return lambda uri: _write_histories(uri, study, make_pair, make_study(), results)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Callable[[str], str]]:
    """A server of PostgreSQL; calls give the URI of a new database in it, with MLflow's tables."""
    pytest.importorskip("psycopg")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(programs[-1]) if programs else None)
    if initdb is None:
        pytest.skip("the server of PostgreSQL must be installed: initdb is not on PATH nor in /usr/lib/postgresql")
    folder = Path(tempfile.mkdtemp(prefix="setsweep-postgresql-"))
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to be run by root
    if user is not None:
        shutil.chown(folder, user)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(program: str, *options: str) -> None:
        command = [str(Path(initdb).resolve().parent / program), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=user, cwd=folder)

    run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "setsweep")
    run("pg_ctl", "-D", str(folder / "data"), "-o", f"-p {port} -k {folder}", "-l", str(folder / "log"), "-w", "start")
    base = f"postgresql+psycopg://setsweep@127.0.0.1:{port}"
    connection = ["-h", str(folder), "-p", str(port), "-U", "setsweep"]
    try:
        run("createdb", *connection, "template_of_mlflow")
        subprocess.run([sys.executable, "-c", CREATE, f"{base}/template_of_mlflow"], check=True, capture_output=True)

        def create(name: str) -> str:
            run("createdb", *connection, "--template", "template_of_mlflow", name)
            return f"{base}/{name}"

        yield create
    finally:
        run("pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture
def dump() -> Callable[[str], Tables]:
    """Calls read every table of a database, sorted, with names in the place of ids, without the moments of writing."""
    return _dump


def _write_histories(uri: str, study: Study, make_pair: Callable[..., Any], searched: Study, results: Any) -> None:
    """All that a study can go through, in two sessions, and a study with a search."""
    from setsweep.sweeps.records.mlflow import database
    from setsweep.sweeps.records.mlflow.store import MlflowStore
    from setsweep.sweeps.records.mlflow_pages.page import build_page

    seeds = [make_pair("focal", 0.2, seed, epochs=4) for seed in range(5)]
    odd = {"test/top2_accuracy": math.inf, "val/top2_accuracy": math.nan, "late": -math.inf}
    seeds[1] = (seeds[1][0], replace(seeds[1][1], metrics=odd))
    failed = make_pair("focal", 0.2, 2, status="failed")
    long = (failed[0], replace(failed[1], reason="x" * 9000))

    first = MlflowStore(study, uri)
    assert (first.batch > 1) == bool(database.REVISIONS)
    for planned, result in (seeds[0], long, make_pair("old", 0.0, 7)):
        first.write_run(planned, result)
    first.write_aggregate([seeds[0], long], 5)
    first.flush()
    first.write_run(*seeds[1])
    first.write_aggregate([seeds[0], seeds[1], long], 5)
    first.write_study("so far", (), "KILLED")
    first.flush()
    first.close()

    second = MlflowStore(study, uri)
    moved = make_pair("old", 0.0, 7)
    second.write_run(replace(moved[0], candidate=replace(moved[0].candidate, arm="new")), moved[1])
    for planned, result in seeds:
        second.write_run(planned, replace(result, finished=result.finished + 60))
    second.write_aggregate(seeds)
    pairs = [(planned, result) for planned, result in seeds]
    second.write_page(build_page(build_report(study, pairs, total=20), running=["avgk seed 3"]))
    second.write_study("the tables", (), "FINISHED", state="all")
    second.flush()
    second.close()

    store = MlflowStore(searched, uri)
    found = [(run, replace(result, started=1.7e9, finished=1.7e9 + 2)) for run, result in results(searched)]
    for planned, result in found:
        store.write_run(planned, result)
    for candidate in dict.fromkeys(planned.candidate for planned, _ in found):
        store.write_aggregate([pair for pair in found if pair[0].candidate == candidate])
    store.write_study("found", (), "FINISHED")
    store.flush()
    store.close()


def _dump(uri: str) -> Tables:
    engine = create_engine(uri, poolclass=NullPool)
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        read = {
            name: [dict(row._mapping) for row in connection.execute(select(table))]
            for name, table in metadata.tables.items()
        }
    names = _names(read)

    def named(row: dict[str, Any]) -> tuple[Any, ...]:
        if row.get("key") == CONTENT and "'study'" in names[row["run_uuid"]]:
            row["value"] = "names the page, in which there are ids"
        return tuple(_named(value, names) for name, value in row.items() if name not in MOMENTS)

    return {name: sorted(map(named, rows), key=repr) for name, rows in read.items()}


def _names(read: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Names of everything that has a random id."""
    tags: dict[str, dict[str, str]] = {}
    for row in read["tags"]:
        tags.setdefault(row["run_uuid"], {})[row["key"]] = row["value"]
    experiments = {row["run_uuid"]: row["experiment_id"] for row in read["runs"]}
    places = {run: (experiments[run], of.get("level", ""), of.get("run_key", "")) for run, of in tags.items()}
    names = {run: f"{places[run]} below {places.get(of.get('mlflow.parentRunId', ''))}" for run, of in tags.items()}
    assert len({*names.values()}) == len(names), "a run is there twice"
    names |= {row["dataset_uuid"]: f"{row['name']} {row['digest']}" for row in read["datasets"]}
    names |= {row["input_uuid"]: "an input" for row in read["inputs"]}
    return names


def _named(value: Any, names: dict[str, str]) -> Any:
    if not isinstance(value, str):
        return value
    if value in names:
        return names[value]
    for unique, name in names.items():
        if len(value) > len(unique) and unique in value:
            value = value.replace(unique, name)
    return value
