"""Where records come from."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from setsweep.sweeps.records.mlflow.provenance import own_version, run_provenance, study_provenance
from setsweep.sweeps.study.study import Study

COMMIT = "mlflow.source.git.commit"


def test_a_run_has_its_user_and_in_a_git_repository_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "ada")
    git = ["git", "-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    before = run_provenance()
    assert (before["mlflow.user"], before["mlflow.source.name"]) == ("ada", "setsweep")
    assert COMMIT not in before  # nothing is committed yet
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert run_provenance() == {**before, COMMIT: head}


def test_without_git_or_a_repository_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert COMMIT not in run_provenance()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert COMMIT not in run_provenance()


def test_a_user_without_a_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 7)  # as of a container that was given a number alone
    assert run_provenance()["mlflow.user"] == "unknown"


def test_a_study_has_the_version_and_its_file_where_it_was_one(study: Study) -> None:
    assert own_version() == version("setsweep")
    assert study_provenance(study) == {"version": own_version()}
    assert study_provenance(replace(study, path="studies/small.yaml"))["study_file"] == "studies/small.yaml"
