"""Files with a study's results: there and back, and what no such file may do."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.parcel import ParcelError, read_parcel, write_parcel
from setsweep.sweeps.records.study_folder import open_journal
from setsweep.sweeps.study.reader import read_study
from setsweep.trainables.config.run_result import RunResult

STUDY = {
    "study": "pairs",
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "k": [2],
    "arms": {"cross_entropy": {}},
    "confirm": {"seeds": 3},
}
Change = Callable[[dict[str, bytes]], object]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The folder of a finished study with a report, a model and what is of this machine alone."""
    study, folder = read_study(STUDY), tmp_path / "here" / "pairs"
    with open_journal(study, folder) as journal:
        planner = Planner(study)
        while isinstance(run := planner.next_run(), PlannedRun):
            result = RunResult(key=run.key, status="done", metrics={"test/top2_accuracy": 0.5 + run.seed / 100})
            planner.tell(result)
            journal.add_all([(run, result)])
    for name in ("report/report.md", "models/abc/model.pt", "scores/abc/1.pt", "checkpoints/x.pt", "mlflow.id"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_study_comes_out_as_it_went_in_without_what_is_of_one_machine(kept: Path, tmp_path: Path) -> None:
    written = write_parcel(kept, tmp_path / "p.zip")
    read, folder = read_parcel(tmp_path / "p.zip", tmp_path / "there")
    assert read == written
    assert (read.study, read.results) == ("pairs", 3)
    left_out = ("checkpoints/x.pt", "mlflow.id")
    assert _files(folder) == {name: text for name, text in _files(kept).items() if name not in left_out}
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["pairs"]


def test_models_and_scores_may_stay(kept: Path, tmp_path: Path) -> None:
    write_parcel(kept, tmp_path / "p.zip", folders=("report",))
    _, folder = read_parcel(tmp_path / "p.zip", tmp_path / "there")
    assert set(_files(folder)) == {"journal.jsonl", "study.yaml", "report/report.md"}


def test_equal_studies_give_equal_files_and_none_is_overwritten(kept: Path, tmp_path: Path) -> None:
    write_parcel(kept, tmp_path / "a.zip")
    write_parcel(kept, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with pytest.raises(ParcelError, match="--out must be a new file"):
        write_parcel(kept, tmp_path / "a.zip")


def test_a_line_that_is_being_written_stays_behind(kept: Path, tmp_path: Path) -> None:
    with (kept / "journal.jsonl").open("a") as journal:
        journal.write('{"record":"result","arm"')
    write_parcel(kept, tmp_path / "p.zip")
    _, folder = read_parcel(tmp_path / "p.zip", tmp_path / "there")
    assert (folder / "journal.jsonl").read_bytes().endswith(b"}\n")
    assert len(Journal(folder, read_only=True).results) == 3


def test_a_study_that_is_there_is_left_as_it_is(kept: Path, tmp_path: Path) -> None:
    write_parcel(kept, tmp_path / "p.zip")
    before = _files(kept)
    with pytest.raises(ParcelError, match="study 'pairs' must be new to"):
        read_parcel(tmp_path / "p.zip", kept.parent)
    assert _files(kept) == before


def _changed(kept: Path, path: Path, change: Change) -> Path:
    """A parcel whose entries were changed."""
    write_parcel(kept, path)
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    change(entries)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt",
        "report/../../evil.txt",
        "/tmp/evil.txt",
        "report//evil.txt",
        "./report/evil.txt",
        "report\\..\\evil.txt",
        "report/.hidden.txt",
        "report/evil.py",
        "report/evil",
        "runs/",
        "evil.yaml",
        "mlflow.id",
        "checkpoints/evil.pt",
        "report/a\nb.txt",
    ],
)
def test_files_that_no_study_has_are_refused_and_nothing_is_left(kept: Path, tmp_path: Path, name: str) -> None:
    path = _changed(kept, tmp_path / "p.zip", lambda entries: entries.update({name: b"evil"}))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ParcelError, match="which no study has"):
        read_parcel(path, tmp_path / "there")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["report/link.txt", "study.yaml"])
def test_links_are_refused(kept: Path, tmp_path: Path, name: str) -> None:
    path = _changed(kept, tmp_path / "p.zip", lambda entries: entries.pop(name, None))
    link = zipfile.ZipInfo(name)
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/passwd")
    with pytest.raises(ParcelError, match="which no study has"):
        read_parcel(path, tmp_path / "there")


def _says(**fields: Any) -> Change:
    def change(entries: dict[str, bytes]) -> None:
        entries["setsweep.json"] = json.dumps({**json.loads(entries["setsweep.json"]), **fields}).encode()

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_says(study="../pairs"), "its study must be a name of letters, digits, - and _"),
        (_says(study="others"), "it says 3 results of 'others' and holds 3 of 'pairs'"),
        (_says(results=4), "it says 4 results of 'pairs' and holds 3 of 'pairs'"),
        (_says(setsweep=2), "its form is number 2"),
        (lambda entries: entries.pop("setsweep.json"), "it has no setsweep.json"),
        (lambda entries: entries.pop("journal.jsonl"), "it holds no journal.jsonl"),
        (lambda entries: entries.update({"journal.jsonl": b"{}\n"}), "must be a record of a sweep"),
        (lambda entries: entries.update({"study.yaml": b"study: pairs"}), "must be given, got nothing"),
    ],
)
def test_a_parcel_that_is_no_study_is_refused_with_why_and_nothing_is_left(
    kept: Path, tmp_path: Path, change: Change, why: str
) -> None:
    path = _changed(kept, tmp_path / "p.zip", change)
    with pytest.raises(ParcelError) as refused:
        read_parcel(path, tmp_path / "there")
    assert why in str(refused.value)
    assert not list((tmp_path / "there").glob("*"))


def test_a_file_that_was_damaged_on_its_way_is_refused(kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    write_parcel(kept, path)
    content = path.read_bytes()
    place = content.index(b"models/abc/model.pt", content.index(b"models/abc/model.pt") + 19)  # what the model holds
    path.write_bytes(content[:place] + b"X" + content[place + 1 :])
    with pytest.raises(ParcelError, match="Bad CRC-32"):
        read_parcel(path, tmp_path / "there")
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ParcelError, match="not a zip file"):
        read_parcel(path, tmp_path / "there")
    assert not list((tmp_path / "there").glob("*"))
