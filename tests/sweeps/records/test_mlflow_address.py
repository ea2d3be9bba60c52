"""Which store is meant, what may be shown of it, and where its pages are."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.records import mlflow_address
from setsweep.sweeps.records.mlflow_address import (
    CURVES,
    RECORDED,
    RESULTS,
    check_answers,
    database_file,
    recorded_address,
    server,
    store_uri,
    ui_command,
    view_path,
    without_password,
)


@pytest.fixture(autouse=True)
def no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def test_the_store_is_what_is_given_or_mlflows_setting_or_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert store_uri(None) == f"sqlite:///{Path.cwd()}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://host")
    assert store_uri(None) == "https://host"
    assert store_uri("sqlite:///other.db") == "sqlite:///other.db"


def test_a_database_may_name_its_driver_and_a_folder_needs_no_scheme() -> None:
    for uri in ("postgresql+psycopg2://host/db", "mlruns", "/data/mlruns", "file:///data/mlruns"):
        assert store_uri(uri) == uri


def test_a_kind_of_store_that_mlflow_has_not_is_refused_without_its_password() -> None:
    with pytest.raises(
        ValueError, match=r"^--tracking-uri must begin with one of http, .*, got 'ftp://me:\*\*\*@host'\.$"
    ):
        store_uri("ftp://me:secret@host")


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("https://me:s@cret@host:8080/x?y=1", "https://me:***@host:8080/x?y=1"),
        ("https://me:me@me", "https://me:***@me"),
        ("https://me@host", "https://me@host"),
        ("sqlite:///mlflow.db", "sqlite:///mlflow.db"),
    ],
)
def test_a_password_is_never_shown(uri: str, shown: str) -> None:
    assert without_password(uri) == shown


def test_a_server_shows_its_own_pages_and_a_database_those_of_the_command() -> None:
    assert server("https://me:secret@host:8080/mlflow") == "https://host:8080/mlflow/"
    assert server("https://host/") == "https://host/"
    assert server("sqlite:///mlflow.db") == "http://127.0.0.1:5000/"
    assert server("postgresql://host/db", port=5001) == "http://127.0.0.1:5001/"


def test_the_command_that_shows_a_study_is_quoted_and_names_another_store_than_the_default() -> None:
    assert ui_command("my study", None) == "setsweep ui 'my study'"
    assert ui_command("small", "sqlite:///a b.db") == "setsweep ui small --tracking-uri 'sqlite:///a b.db'"
    assert ui_command("small", "https://host") == ""


def test_only_a_sqlite_database_is_a_file() -> None:
    assert database_file("sqlite:////data/mlflow.db") == Path("/data/mlflow.db")
    assert database_file("postgresql://host/db") is None


def test_a_view_of_charts_opens_as_charts() -> None:
    assert view_path("7") == view_path("7", RESULTS)
    assert not view_path("7").endswith("&compareRunsMode=CHART")
    assert view_path("7", CURVES).endswith(f"viewStateShareKey={CURVES}&compareRunsMode=CHART")


def test_where_a_study_was_recorded_last_is_known_from_its_folder(tmp_path: Path) -> None:
    assert recorded_address(tmp_path) is None
    (tmp_path / RECORDED).write_text(json.dumps({"address": "https://host/#/experiments/1"}))
    assert recorded_address(tmp_path) == "https://host/#/experiments/1"
    (tmp_path / RECORDED).write_text("{}")
    assert recorded_address(tmp_path) is None


def test_a_server_that_does_not_answer_when_a_sweep_starts_is_refused_before_anything_is_trained(
    setsweep: Callable[..., Any], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlflow_address, "KNOCK_SECONDS", 0.6)  # twice
    said = setsweep("run", small, "--in-process", "--tracking-uri", "http://me:secret@127.0.0.1:1")
    assert said.code == 2
    assert "--tracking-uri must be where an MLflow server answers when a sweep starts, got 'http://me:***@" in said.err
    assert '"result"' not in Path("setsweep-results/small/journal.jsonl").read_text()


def test_one_that_answers_and_what_is_no_server_is_let_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server_:
        check_answers(f"http://127.0.0.1:{server_.getsockname()[1]}/path")
    check_answers("sqlite:///mlflow.db")


def test_where_a_proxy_is_to_be_asked_nobody_knocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "")
    check_answers("http://127.0.0.2:1")
