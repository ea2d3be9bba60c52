"""The shell scripts of docker/: their lint, and the file of secrets that one of them makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DOCKER = Path(__file__).parents[2] / "docker"
SCRIPTS = sorted(path for path in DOCKER.rglob("*") if path.suffix in (".sh", ".sbatch"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    checker = Path(sys.executable).with_name("shellcheck")
    found = subprocess.run([checker, script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_secrets_are_long_new_and_for_their_owner_alone(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        assert _make(file).returncode == 0
        assert file.stat().st_mode & 0o777 == 0o600
    one, two = (dict(line.split("=") for line in file.read_text().splitlines()[1:]) for file in files)
    assert set(one) == set(two)
    assert len(one) == 4
    values = [*one.values(), *two.values()]
    assert len(set(values)) == 8
    assert all(len(value) == 64 and int(value, 16) >= 0 for value in values)  # 256 bits of the kernel's


def test_secrets_that_are_there_are_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("MINE=1\n")
    refused = _make(file)
    assert refused.returncode == 2
    assert "must be a new file" in refused.stderr
    assert file.read_text() == "MINE=1\n"


def test_secrets_are_not_said(tmp_path: Path) -> None:
    made = _make(tmp_path / ".env")
    values = [line.partition("=")[2] for line in (tmp_path / ".env").read_text().splitlines()[1:]]
    assert not any(value in made.stdout + made.stderr for value in values)


def test_git_does_not_see_the_secrets() -> None:
    assert "/docker/.env" in (DOCKER.parent / ".gitignore").read_text().splitlines()


def _make(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", str(DOCKER / "make-env.sh"), str(file)], capture_output=True, text=True, check=False)
