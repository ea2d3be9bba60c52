"""What a shell completes a study to, asked as the scripts of ``setsweep completion`` ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def there(folder: Path) -> Path:
    """A folder with study files, a bare folder, and two storages with a study each."""
    for path in ("mine.yaml", "notes.txt", ".hidden/x.yaml", "sub/other.yml"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("")
    for storage, name in (("setsweep-results", "was-run"), ("elsewhere", "was-run-there")):
        (folder / storage / name).mkdir(parents=True)
        (folder / storage / name / "study.yaml").write_text("")
    return folder


def _completed(setsweep: Any, *words: str) -> list[str]:
    said = setsweep("__complete", *words)
    assert (said.code, said.err) == (0, "")
    told = [line.partition("\t")[0] for line in said.out.splitlines() if line and not line.startswith("\x1f")]
    return [name for name in told if name.startswith(words[-1])]  # as the script does


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("run", "digits-se"), ["digits-search"]),
        (("plan", "mi"), ["mine.yaml"]),
        (("check", "sub/"), ["sub/other.yml"]),
        (("show", "was"), ["was-run"]),
        (("report", ""), ["was-run", "elsewhere/", "mine.yaml", "setsweep-results/", "sub/"]),
        (("status", "--storage", "elsewhere", "was"), ["was-run-there"]),
        (("compare", "was-run", "was"), ["was-run"]),
        (("report", "garcin"), []),
        (("run", "no/such/folder/x"), []),
    ],
)
def test_a_study_is_completed_to_bundled_ones_those_that_were_run_and_files(
    setsweep: Any, words: tuple[str, ...], found: list[str]
) -> None:
    assert _completed(setsweep, *words) == found


def test_the_scripts_ask_for_the_names(setsweep: Any) -> None:
    assert "__complete" in setsweep("completion", "bash").out
