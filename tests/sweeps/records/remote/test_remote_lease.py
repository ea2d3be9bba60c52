"""Two machines, one study in an object store: what each sees, who may write, and what becomes of who was away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.execution.errors import StorageLostError
from setsweep.sweeps.records import lease
from setsweep.sweeps.records.archive import archive, delete, is_archived
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import FILE, WRITER, JournalError
from setsweep.sweeps.records.parcel import read_parcel, write_parcel
from setsweep.sweeps.records.remote import segments, working_copy
from setsweep.sweeps.records.remote.lease import StoredLease
from setsweep.sweeps.records.study_folder import open_journal, storage_folder, stored_studies, study_folder
from setsweep.sweeps.study.reader import read_study
from setsweep.trainables.places import StoredPath

STUDY = """\
study: which-loss
data: {name: digits}
model: {name: linear}
k: [2]
arms: {focal: {}}
"""
HOLDER = """
import sys, time
from setsweep.sweeps.records import lease
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.study_folder import study_folder
lease.RENEW_SECONDS, lease.EXPIRE_SECONDS = 0.3, 1.8
journal = Journal(study_folder(sys.argv[1], "which-loss"))
print("held", flush=True)
while True:
    time.sleep(0.1)
    journal.check_there()
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.3)
    monkeypatch.setattr(lease, "EXPIRE_SECONDS", 1.8)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Calls make this process one of another machine, as far as working copies go."""
    return lambda name: monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))


@pytest.fixture
def pairs(make_pair: Any) -> list[Any]:
    """Runs of the study with their results."""
    return [make_pair("focal", 0.2, seed) for seed in range(5)]


@pytest.fixture
def holder(bucket: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of another machine that holds the study."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "theirs")}
    words = [sys.executable, "-c", HOLDER, bucket]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_study_goes_on_on_another_machine_with_what_the_first_has_recorded(
    bucket: str, machine: Any, study: Any, pairs: Any
) -> None:
    with open_journal(study, study_folder(bucket, study.name)) as journal:
        journal.add_all(pairs[:1])
        journal.add_all(pairs[1:3])
        working_copy.publish(journal.path.parent)
    machine("second")
    assert [folder.name for folder in stored_studies(storage_folder(bucket))] == [study.name]
    folder = study_folder(bucket, study.name)
    with open_journal(study, folder) as journal:
        assert list(journal.results) == [run.key for run, _ in pairs[:3]]
        journal.add_all(pairs[3:4])
    machine("cache")
    folder = study_folder(bucket, study.name)
    assert list(Journal(folder, read_only=True).results) == [run.key for run, _ in pairs[:4]]
    assert (folder / "study.yaml").read_text() == study.text


def test_the_second_writer_is_told_who_holds_the_study(bucket: str, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(JournalError, match=rf"{bucket}/which-loss'.* \(process {holder.pid} on .*\), and is alive"):
        Journal(study_folder(bucket, "which-loss"))


def test_what_a_killed_machine_held_is_free_when_its_lease_has_expired(
    bucket: str, holder: subprocess.Popen[str]
) -> None:
    holder.kill()
    said: list[str] = []
    with Journal(study_folder(bucket, "which-loss"), say=said.append):
        writer = json.loads((StoredPath(bucket) / "which-loss" / WRITER).read_bytes())
        assert writer["pid"] == os.getpid()
    assert f"was left by process {holder.pid} on " in said[0]
    assert not (StoredPath(bucket) / "which-loss" / WRITER).exists()


def test_a_killed_process_of_this_machine_is_followed_at_once(
    bucket: str, holder: subprocess.Popen[str], machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder.kill()
    holder.wait()
    machine("theirs")
    monkeypatch.setattr(lease, "EXPIRE_SECONDS", 1e6)
    Journal(study_folder(bucket, "which-loss")).close()


def test_one_that_was_away_too_long_ends_when_it_comes_back(bucket: str, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGSTOP)
    with Journal(study_folder(bucket, "which-loss")):
        holder.send_signal(signal.SIGCONT)
        _, errors = holder.communicate(timeout=30)
    assert holder.returncode == 1
    assert f"got it taken over by process {os.getpid()} on" in errors


def test_what_one_that_was_away_writes_is_refused_before_it_knows(bucket: str, machine: Any, pairs: Any) -> None:
    first = Journal(study_folder(bucket, "which-loss"))
    assert first._lease is not None
    first._lease._closing.set()  # it hangs, and renews nothing any more
    machine("second")
    with Journal(study_folder(bucket, "which-loss")) as second:
        machine("cache")
        with pytest.raises(StorageLostError, match="taken over by process"):
            first.add_all(pairs[:1])
        machine("second")
        assert second.results == {}
    machine("cache")
    first.close()
    assert Journal(study_folder(bucket, "which-loss"), read_only=True).results == {}


def test_a_renewal_of_which_no_answer_came_costs_no_lease(bucket: str) -> None:
    writer = StoredPath(bucket) / "which-loss" / WRITER
    with Journal(study_folder(bucket, "which-loss")) as journal:
        held = journal._lease
        assert isinstance(held, StoredLease)
        writer.write_bytes(writer.read_bytes())  # as the renewal has done whose answer was lost
        held._tag = "an earlier one"
        held._renew()
        held._renew()
        journal.check_there()
        assert json.loads(writer.read_bytes())["renewed"] >= 2
        writer.write_bytes(b'{"copy": "another"}')
        held._renew()
        with pytest.raises(StorageLostError, match="taken over by an unknown process"):
            journal.check_there()
    assert writer.read_bytes() == b'{"copy": "another"}'


def test_results_that_could_not_be_sent_are_sent_the_next_time(bucket: str, pairs: Any, machine: Any) -> None:
    with Journal(study_folder(bucket, "which-loss")) as journal:
        journal.add_all(pairs[:1])
        assert journal._lease is not None
        journal._lease._place = StoredPath("s3://there-is-none/which-loss")  # the store is away
        with pytest.raises(JournalError, match="must be an object store that can be read and written"):
            journal.add_all(pairs[1:2])
        with journal.path.open("a") as file:
            file.write('{"half a line')
        journal._lease._place = StoredPath(bucket) / "which-loss"
    folder = study_folder(bucket, "which-loss")
    with Journal(folder) as journal:
        assert len(journal.results) == 2
    machine("second")
    assert len(Journal(study_folder(bucket, "which-loss"), read_only=True).results) == 2


def test_many_objects_become_one_and_readers_in_between_read_the_same(
    bucket: str, pairs: Any, machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(study_folder(bucket, "which-loss")) as journal:
        for pair in pairs[:5]:
            journal.add_all([pair])
        content = journal.path.read_bytes()
    place = StoredPath(bucket) / "which-loss"
    before = place.below()
    monkeypatch.setattr(segments, "MANY", 3)
    with Journal(study_folder(bucket, "which-loss")) as journal:
        assert len(journal.results) == 5
        assert sorted(name for name in place.below() if name.startswith("journal/")) == [
            f"journal/{0:015d}",
            f"journal/{len(content):015d}",
        ]
    machine("second")
    copy = study_folder(bucket, "which-loss") / "old"
    segments.bring_journal(copy, place, before)  # by a list from before
    assert copy.read_bytes().startswith(content)


def test_a_copy_that_differs_becomes_what_the_store_has(bucket: str, pairs: Any) -> None:
    folder = study_folder(bucket, "which-loss")
    with Journal(folder) as journal:
        journal.add_all(pairs[:2])
    content = (folder / FILE).read_bytes()
    for wrong in (b"", content[:100], content[:50] + b"x" * 500, content.replace(b"done", b"dune")):
        (folder / FILE).write_bytes(wrong)
        study_folder(bucket, "which-loss")
        assert (folder / FILE).read_bytes() == content


def test_a_study_is_put_aside_taken_along_and_removed_on_all_machines(
    bucket: str, tmp_path: Path, machine: Any, pairs: Any
) -> None:
    (tmp_path / "which-loss.yaml").write_text(STUDY)
    study = read_study(tmp_path / "which-loss.yaml")
    folder = study_folder(bucket, study.name)
    with open_journal(study, folder) as journal:
        journal.add_all(pairs[:2])
        working_copy.publish(folder)
    model = StoredPath(bucket) / study.name / "models" / "key" / "model.pt"
    model.write_bytes(b"weights")
    parcel = tmp_path / "parcel"
    write_parcel(folder, parcel)
    archive(folder, thin=True)
    assert not model.exists()

    machine("second")
    other = study_folder(bucket, study.name)
    assert is_archived(other)
    delete(other)
    assert StoredPath(bucket).below() == {}

    machine("cache")
    assert stored_studies(storage_folder(bucket)) == [folder]  # until it is asked for
    assert not study_folder(bucket, study.name).exists()
    read_parcel(parcel, storage_folder(bucket))
    assert model.read_bytes() == b"weights"
    machine("second")
    assert len(Journal(study_folder(bucket, study.name), read_only=True).results) == 2


def test_objects_with_names_that_lead_elsewhere_are_left(bucket: str, tmp_path: Path, pairs: Any) -> None:
    with Journal(study_folder(bucket, "which-loss")) as journal:
        journal.add_all(pairs[:1])
    place = StoredPath(bucket) / "which-loss"
    for name in ("journal.jsonl", ".brought.json", "report/..%2F..%2F..%2Fout"):
        (place / name).write_bytes(b"hostile")
    folder = study_folder(bucket, "which-loss")
    assert len(Journal(folder, read_only=True).results) == 1
    assert not [path for path in tmp_path.rglob("*out*") if not path.is_relative_to(folder)]


@pytest.mark.parametrize("url", ["s3:///name", "s3://bucket/name?x=y", "s3://user:password@bucket/name"])
def test_urls_that_name_no_bucket_are_refused(url: str, bucket: str) -> None:
    with pytest.raises(JournalError, match="--storage must be s3://BUCKET/NAME, got"):
        storage_folder(url)
