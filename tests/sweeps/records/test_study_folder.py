"""The folder of a study: where it is, and whether the study is still the one that was begun there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import JournalError
from setsweep.sweeps.records.study_folder import (
    OtherStudyError,
    check_same_study,
    model_folder,
    open_journal,
    storage_folder,
    stored_study,
    study_folder,
)
from setsweep.sweeps.study.defaults import DEFAULTS
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import StudyError

TEXT = "study: mine\ndata: {name: digits}\nmodel: {name: linear}\nk: 2\narms: {cross_entropy: {}, focal: {}}\n"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study in the file ``file.yaml`` of the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("file.yaml").write_text(TEXT)
    return read_study("file.yaml")


@pytest.mark.parametrize(
    ("storage", "folder"),
    [
        ("results", "results"),
        ("~/results", str(Path("~/results").expanduser())),
        ("/data/a b", "/data/a b"),
        ("file:///data/a%20b", "/data/a b"),
        ("file://localhost/data", "/data"),
    ],
)
def test_a_storage_is_a_folder_or_its_url(storage: str, folder: str) -> None:
    assert storage_folder(storage) == Path(folder)
    assert study_folder(storage, "mine") == Path(folder) / "mine"


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        (
            "hdfs://bucket/x",
            "--storage must be a folder, or the URL of one (file) or of an object store (s3, s3a, gs, az, abfs, abfss)",
        ),
        ("file://results", "--storage must be a folder of this machine, as in file:///home/results, got "),
    ],
)
def test_a_storage_that_is_no_folder_here_is_refused(storage: str, message: str) -> None:
    with pytest.raises(JournalError) as refused:
        study_folder(storage, "mine")
    assert str(refused.value).startswith(message)


def test_a_model_lies_under_the_key_of_its_run(make_pair: Callable[..., Any]) -> None:
    run, _ = make_pair("focal", 0.0, 1)
    assert model_folder(Path("results/mine"), run) == Path("results/mine/models") / run.key


def test_a_study_that_is_begun_leaves_its_file_and_its_description(mine: Study) -> None:
    with open_journal(mine, Path("results/mine")) as journal:
        begun = {"name": "mine", "protocol": mine.protocol(), "text": mine.text, "defaults": DEFAULTS}
        assert journal.study == begun
    assert Path("results/mine/study.yaml").read_text() == mine.text
    assert {path.name for path in Path("results/mine").iterdir()} == {"journal.jsonl", "study.yaml"}


def test_the_same_study_changes_nothing(mine: Study) -> None:
    folder = Path("results/mine")
    open_journal(mine, Path("results/mine")).close()
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())]
    open_journal(mine, Path("results/mine")).close()
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())] == before


def test_more_arms_and_seeds_are_the_same_study_in_its_present_form(mine: Study) -> None:
    folder = Path("results/mine")
    open_journal(mine, Path("results/mine")).close()
    more = read_study("file.yaml", ["confirm.seeds=7", "arms.ldam={}"])
    open_journal(more, folder).close()
    assert (folder / "study.yaml").read_text() == more.text
    described = Journal(folder, read_only=True).study
    assert described is not None
    assert described["text"] == more.text


def test_another_study_of_that_name_is_refused_and_leaves_no_lock(mine: Study, make_pair: Callable[..., Any]) -> None:
    folder = Path("results/mine")
    with open_journal(mine, folder) as journal:
        journal.add_all([make_pair("focal", 0.0, 1)])
    other = read_study("file.yaml", ["training.epochs=3", "k=[1, 2]"])
    with pytest.raises(OtherStudyError) as refused:
        open_journal(other, folder)
    assert str(refused.value).splitlines()[:3] == [
        "study 'mine' must be the one that 'results/mine' holds, got other contents:",
        "  training.epochs: 10 before, 3 now",
        "  k: [2] before, [1, 2] now",
    ]
    assert (folder / "study.yaml").read_text() == mine.text
    open_journal(mine, Path("results/mine")).close()


def test_a_study_without_a_result_gives_its_name_to_any_other(mine: Study) -> None:
    folder = Path("results/mine")
    open_journal(mine, Path("results/mine")).close()
    other = read_study("file.yaml", ["training.epochs=3"])
    open_journal(other, folder).close()
    assert (folder / "study.yaml").read_text() == other.text
    check_same_study(mine, folder)


def test_another_study_takes_the_place_of_one_that_it_replaces(mine: Study, make_pair: Callable[..., Any]) -> None:
    folder = Path("results/mine")
    with open_journal(mine, folder) as journal:
        journal.add_all([make_pair("focal", 0.0, 1)])
    other = read_study("file.yaml", ["training.epochs=3"])
    open_journal(other, folder, replace=True).close()
    assert (folder / "study.yaml").read_text() == other.text
    open_journal(other, folder).close()
    with pytest.raises(OtherStudyError):
        open_journal(mine, folder)
    with pytest.raises(OtherStudyError):
        check_same_study(mine, folder)


def test_a_study_is_found_by_name_as_it_was_last_run_and_by_file_as_that_says(mine: Study) -> None:
    ran = read_study("file.yaml", ["confirm.seeds=7"])
    open_journal(ran, Path("results/mine")).close()
    study, folder = stored_study("mine", "results")
    assert (study.confirm_seeds, folder, study.notes) == (ran.confirm_seeds, Path("results/mine"), ())
    for name in ("file.yaml", "./file.yaml"):
        study, folder = stored_study(name, "results")
        assert (study.confirm_seeds, folder) == (mine.confirm_seeds, Path("results/mine"))
        (note,) = study.notes
        assert note == f"{name} is not as it was last run in 'results/mine': confirm.seeds: 7 before, nothing now."


def test_a_study_that_was_not_run_there_is_what_its_file_says(mine: Study) -> None:
    study, folder = stored_study("file.yaml", "results")
    assert (study, folder) == (replace(mine, path="file.yaml"), Path("results/mine"))
    assert stored_study("demo", "results")[0].name == "demo"  # a bundled one
    assert not folder.exists()


def test_a_name_that_nothing_has_is_refused_with_what_there_is(mine: Study) -> None:
    with pytest.raises(ValueError, match=r"^STUDY must be one that was run in 'results', got 'yours'\.$"):
        stored_study("yours", "results")
    open_journal(mine, Path("results/mine")).close()
    with pytest.raises(ValueError, match=r"got 'minee'\. Did you mean 'mine'\? There: mine\.$"):
        stored_study("minee", "results")
    with pytest.raises(StudyError, match=r"^there/is/none: must be a study file .*, got no such file"):
        stored_study("there/is/none", "results")
