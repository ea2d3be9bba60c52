"""The Dockerfile and what it installs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "docker" / "Dockerfile"


@pytest.fixture
def stages() -> dict[str, list[str]]:
    """The instructions of each stage, by its name, each on one line."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    found: dict[str, list[str]] = {}
    for line in filter(None, text.splitlines()):
        if line.startswith("FROM"):
            found[line.split()[-1]] = []
        if found:
            list(found.values())[-1].append(line)
    return found


def test_hadolint_finds_nothing() -> None:
    found = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), DOCKERFILE], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout


def test_images_are_pinned_slim_and_not_roots(stages: dict[str, list[str]]) -> None:
    (python,) = re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE.read_text(), re.MULTILINE)
    assert re.fullmatch(r"3\.1[12]\.\d+-slim-\w+", python)
    for image in ("node", "mlflow"):
        users = [line for line in stages[image] if line.startswith("USER")]
        assert users == ["USER 1000:1000"], "a number, which Kubernetes can see is not root's"


def test_both_images_install_the_versions_that_have_been_tested(stages: dict[str, list[str]]) -> None:
    installs = [line for stage in stages.values() for line in stage if "pip install" in line]
    assert installs
    assert all("--constraint constraints.txt" in line or "--no-deps" in line for line in installs)


def test_every_requirement_of_an_image_has_a_tested_version() -> None:
    needed = _printed(ROOT / "pyproject.toml", "cluster").split("\n") + _named_in("mlflow")
    names = {re.split(r"[\[<>=]", each)[0].lower() for each in filter(None, needed)}
    tested = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert names >= {"torch", "ray", "mlflow", "psycopg"}
    assert names <= tested


def test_dependencies_are_those_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    expected = project["dependencies"] + project["optional-dependencies"]["cluster"]
    assert _printed(ROOT / "pyproject.toml", "cluster").splitlines() == expected


def test_no_secret_and_no_result_can_get_into_an_image() -> None:
    sent = (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in sent if line.startswith("!")}
    assert sent[1] == "*"  # all is left out but what is named
    for copied in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE.read_text(), re.MULTILINE):
        assert copied == "." or set(copied.split()) <= allowed


def _printed(*arguments: object) -> str:
    program = [sys.executable, str(DOCKERFILE.parent / "dependencies.py")]
    return subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def _named_in(image: str) -> list[str]:
    """What an image's own pip command names."""
    text = DOCKERFILE.read_text().partition(f"AS {image}\n")[2]
    command = re.search(r"pip install --constraint constraints.txt (.*)$", text, re.MULTILINE)
    assert command is not None
    return command[1].replace('"', "").split()
