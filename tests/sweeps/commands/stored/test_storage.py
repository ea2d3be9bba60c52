"""Commands that move, keep and remove studies, as one uses them on a study that was run."""

from __future__ import annotations

import os
import pty
import shutil
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import open_journal
from setsweep.sweeps.study.reader import read_study
from setsweep.trainables.config.run_result import RunResult

FOLDER = Path("setsweep-results/small")
METRICS = [f"{split}/{rule}{k}_accuracy" for split in ("val", "test") for rule in ("top", "avg") for k in (1, 2)]


@pytest.fixture
def kept(small: Path) -> Path:
    """The folder of a study that was run, with a model."""
    study = read_study(small)
    with open_journal(study, FOLDER) as journal:
        planner = Planner(study)
        while isinstance(run := planner.next_run(), PlannedRun):
            result = RunResult(key=run.key, status="done", metrics=dict.fromkeys(METRICS, 0.5 + run.seed / 1e4))
            journal.add_trials(planner.new_trials())
            planner.tell(result)
            journal.add_all([(run, result)])
    (FOLDER / "models" / "abc").mkdir(parents=True)
    (FOLDER / "models" / "abc" / "model.pt").write_bytes(bytes(2048))
    return FOLDER


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Calls type an answer on a terminal, which is standard input."""
    here, there = pty.openpty()
    with os.fdopen(there) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield lambda text: os.write(here, f"{text}\n".encode()) and None
    os.close(here)


@pytest.mark.usefixtures("kept")
def test_an_imported_study_reports_the_same_to_the_byte(setsweep: Any, folder: Path) -> None:
    exported = setsweep("export", "small.yaml", "--out", folder / "a.zip")
    assert (exported.code, exported.err) == (0, "")
    assert exported.out.startswith(f"{folder / 'a.zip'}: 7 results of small, ")
    said = setsweep("import", folder / "a.zip", "--storage", "other")
    assert said.out == "other/small: 7 results. 'setsweep report small --storage other' prints them.\n"
    for form in ("terminal", "json", "markdown"):
        first = setsweep("report", "small", "--format", form)
        assert setsweep("report", "small", "--format", form, "--storage", "other").out == first.out
    assert (Path("other/small/models/abc/model.pt")).stat().st_size == 2048
    again = setsweep("import", folder / "a.zip", "--storage", "other")
    assert again.code == 2
    assert again.err == "setsweep: study 'small' must be new to 'other', got one that is there already.\n"


@pytest.mark.usefixtures("kept")
def test_an_export_has_a_name_of_its_own_and_may_leave_out_models(setsweep: Any) -> None:
    assert setsweep("export", "small", "--no-models").code == 0
    setsweep("import", "small.setsweep.zip", "--storage", "other")
    assert not Path("other/small/models").exists()
    refused = setsweep("export", "small")
    assert refused.code == 2
    assert "--out must be a new file, got 'small.setsweep.zip', which is there" in refused.err


@pytest.mark.parametrize("command", ["export", "archive", "delete"])
def test_a_study_that_was_never_run_is_named_with_those_that_were(setsweep: Any, kept: Path, command: str) -> None:
    said = setsweep(command, "smal")
    assert said.code == 2
    rule = "STUDY must be one that was run in 'setsweep-results', got 'smal'."
    assert said.err == f"setsweep: {rule} Did you mean 'small'? There: small.\n"
    for name in ("..", ".", ""):
        assert setsweep(command, name, "--yes" if command != "export" else "--no-models").code == 2
    assert kept.exists()


def test_deleting_says_what_is_lost_and_asks(setsweep: Any, kept: Path, answer: Callable[[str], None]) -> None:
    answer("n")
    asked = setsweep("delete", "small")
    assert asked.code == 1
    assert asked.out.splitlines()[0] == "setsweep-results/small holds 7 results:"
    assert "  models/: 1 file, 2.0 KiB" in asked.out.splitlines()
    assert asked.err.startswith("Remove all of it? 'setsweep export small' would keep it [y/N] Nothing was removed.")
    assert kept.exists()
    answer("y")
    assert setsweep("delete", "small").out.endswith("Removed setsweep-results/small.\n")
    assert not any(kept.parent.iterdir())


def test_without_a_terminal_deleting_wants_yes(
    setsweep: Any, kept: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "empty").touch()
    with (folder / "empty").open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        refused = setsweep("delete", "small")
    assert (refused.code, kept.exists()) == (2, True)
    assert refused.err == "setsweep: --yes must be given where there is no terminal to ask on, got none.\n"
    assert setsweep("delete", "small", "--yes").code == 0
    assert not kept.exists()


def test_a_study_that_is_being_written_stays(setsweep: Any, kept: Path, small: Path) -> None:
    with open_journal(read_study(small), kept):
        for command in (("delete", "small", "--yes"), ("archive", "small")):
            refused = setsweep(*command)
            assert refused.code == 2
            assert "which another one is writing" in refused.err
    assert kept.exists()


def test_a_study_with_a_damaged_journal_or_file_can_be_deleted(setsweep: Any, kept: Path) -> None:
    (kept / "journal.jsonl").write_text("no record\n")
    (kept / "study.yaml").write_text("study: [")
    said = setsweep("delete", "small", "--yes")
    assert said.code == 0
    assert "holds a journal that can't be read" in said.out
    assert not kept.exists()


def test_a_link_to_a_study_is_not_followed(setsweep: Any, kept: Path, folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "small").symlink_to(kept.absolute(), target_is_directory=True)
    refused = setsweep("delete", "small", "--yes", "--storage", "other")
    assert refused.code == 2
    assert "a link to" in refused.err
    assert (kept / "journal.jsonl").exists()


def test_what_is_archived_is_listed_when_asked_and_found_by_name(setsweep: Any, kept: Path) -> None:
    assert setsweep("archive", "small").code == 0
    listed = setsweep("status")
    assert (listed.code, listed.err) == (0, "1 archived: --archived lists it, too.\n")
    assert "small" not in listed.out
    assert "small" in setsweep("status", "--archived").out
    assert setsweep("report", "small").code == 0
    assert (kept / "models").exists()
    assert setsweep("archive", "small", "--undo").code == 0
    assert "small" in setsweep("status").out


def test_a_thin_archive_keeps_the_tables_and_a_run_takes_it_back(setsweep: Any, kept: Path, small: Path) -> None:
    table = setsweep("report", "small").out
    said = setsweep("archive", "small", "--thin", "--yes")
    assert said.out.splitlines()[:2] == ["To be removed from setsweep-results/small:", "  models/: 1 file, 2.0 KiB"]
    assert not (kept / "models").exists()
    assert setsweep("report", "small").out == table
    open_journal(read_study(small), kept).close()
    assert "small" in setsweep("status").out


def test_a_storage_that_is_lost_comes_back_with_its_records(setsweep: Callable[..., Any], kept: Path) -> None:
    before = setsweep("report", "small", "--format", "json").out
    said = setsweep("backup", "all.zip")
    assert (said.code, said.out.split(",")[0]) == (0, "all.zip: 1 studies with 7 results"), said.err
    shutil.rmtree(kept.parent)
    said = setsweep("restore", "all.zip")
    assert said.code == 0, said.err
    assert setsweep("report", "small", "--format", "json").out == before
    assert (kept / "models" / "abc" / "model.pt").read_bytes() == bytes(2048)
    with sqlite3.connect("mlflow.db") as database:
        levels = database.execute("select value, count(*) from tags where key = 'level' group by value").fetchall()
    database.close()
    assert dict(levels) == {"study": 1, "aggregate": 5, "run": 7}

    refused = setsweep("restore", "all.zip")
    assert (refused.code, "must be new to 'setsweep-results'" in refused.err) == (2, True)
    refused = setsweep("backup", "all.zip")
    assert (refused.code, "FILE must be a new file" in refused.err) == (2, True)


def test_what_is_no_backup_is_refused_and_nothing_is_written(setsweep: Callable[..., Any], folder: Path) -> None:
    assert setsweep("backup", "none.zip").code == 2
    Path("text").write_text("no ZIP file")
    with zipfile.ZipFile("evil.zip", "w") as file:
        file.writestr("../../evil.setsweep.zip", b"")
    with zipfile.ZipFile("broken.zip", "w") as file:
        file.writestr("study.setsweep.zip", b"nothing")
    for name in ("text", "evil.zip", "broken.zip", "nowhere"):
        refused = setsweep("restore", name, "--storage", "new")
        assert refused.code == 2, refused.out
        assert " must be one that 'setsweep " in refused.err
    assert not any(Path("new").rglob("*.jsonl"))
