"""Ray's token lies in a file for its owner alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from setsweep.sweeps.execution.ray_token import guard_token

OWN = """
import ray
from setsweep.sweeps.execution import cluster
cluster.connect(None, cpus=1)
print(ray.get_runtime_context().gcs_address, flush=True)
input()
"""
STRANGER = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False); print('inside')"


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in a home of its own."""
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / ".ray" / "auth_token"


def test_it_is_made_for_its_owner_alone(token: Path) -> None:
    guard_token()
    assert token.stat().st_mode & 0o777 == 0o600
    assert len(token.read_text()) == 64


def test_one_that_is_there_is_kept_and_hidden(token: Path) -> None:
    token.parent.mkdir()
    token.write_text("a" * 64)
    token.chmod(0o644)
    guard_token()
    assert (token.read_text(), token.stat().st_mode & 0o777) == ("a" * 64, 0o600)


@pytest.mark.parametrize("setting", [("RAY_AUTH_TOKEN", "b" * 64), ("RAY_AUTH_MODE", "disabled")])
def test_where_none_is_needed_none_is_made(
    token: Path, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, str]
) -> None:
    monkeypatch.setenv(*setting)
    guard_token()
    assert not token.exists()


@pytest.mark.slow
def test_a_cluster_of_ones_own_lets_nobody_in_who_has_no_token(token: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    own = subprocess.Popen(
        [sys.executable, "-c", OWN], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert own.stdout is not None
    address = own.stdout.readline().strip()
    assert token.stat().st_mode & 0o777 == 0o600
    for home, inside in ((tmp_path, True), (tmp_path / "elsewhere", False)):
        home.mkdir(exist_ok=True)
        stranger = subprocess.run(
            [sys.executable, "-c", STRANGER, address],
            env={**environment, "HOME": str(home), "RAY_AUTH_MODE": "token"},
            check=False,
            capture_output=True,
            text=True,
        )
        assert ("inside" in stranger.stdout) == inside, stranger.stderr
    own.communicate("\n", timeout=60)
