"""The journal: what it says was done was done, whatever happened to the process that wrote it."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import FILE, JournalError, Lease
from setsweep.trainables.config.run_result import RunResult

PATIENCE = 60


@pytest.fixture
def filled(tmp_path: Path, make_pair: Callable[..., Any]) -> Path:
    """A folder whose journal holds a description and three results."""
    with Journal(tmp_path) as journal:
        journal.describe({"name": "which-loss", "protocol": {"k": [2]}, "text": "study: which-loss\n"})
        for seed in range(3):
            journal.add_all([make_pair("focal", 0.2, seed)])
    return tmp_path


def test_what_was_added_is_there_again(filled: Path, make_pair: Callable[..., Any]) -> None:
    pairs = [make_pair("focal", 0.2, seed) for seed in range(3)]
    journal = Journal(filled, read_only=True)
    assert journal.results == {run.key: result for run, result in pairs}
    assert journal.study == {"name": "which-loss", "protocol": {"k": [2]}, "text": "study: which-loss\n"}


def test_without_their_curves_results_are_the_same_but_for_these(tmp_path: Path, make_pair: Callable[..., Any]) -> None:
    pairs = [make_pair("focal", 0.2, seed) for seed in range(3)]
    odd = '"result":{"key":"0","epochs":[1],"curves":{"a":[1]}}'  # text that looks like what is left out
    pairs[1] = pairs[1][0], dataclasses.replace(pairs[1][1], status="failed", reason=odd)
    assert all(result.curves for _, result in pairs)
    with Journal(tmp_path) as journal:
        journal.add_all(pairs[:1])
        journal.add_all(pairs[1:])

    read = Journal(tmp_path, read_only=True, curves=False)

    assert read.results == {run.key: dataclasses.replace(result, curves={}) for run, result in pairs}


def test_a_result_that_is_no_number_is_kept(tmp_path: Path, make_pair: Callable[..., Any]) -> None:
    run, result = make_pair("focal", 0.0, 0, status="diverged")
    with Journal(tmp_path) as journal:
        journal.add_all([(run, result)])
    assert Journal(tmp_path, read_only=True).results[run.key].reason == result.reason


def test_every_line_says_which_run_it_is_of(filled: Path) -> None:
    lines = [json.loads(line) for line in (filled / "journal.jsonl").read_text().splitlines()]
    assert [line["record"] for line in lines] == ["study", "result", "result", "result"]
    assert lines[1]["arm"] == "focal"
    assert lines[1]["point"] == {"data.label_noise": 0.2}
    assert lines[1]["config"]["seed"] == 0


def test_the_same_study_is_described_once(filled: Path) -> None:
    before = (filled / "journal.jsonl").read_bytes()
    with Journal(filled) as journal:
        journal.describe({"name": "which-loss", "protocol": {"k": [2]}, "text": "study: which-loss\n"})
    assert (filled / "journal.jsonl").read_bytes() == before


def test_the_last_result_of_a_run_counts(filled: Path, make_pair: Callable[..., Any]) -> None:
    run, result = make_pair("focal", 0.2, 0, status="failed")
    with Journal(filled) as journal:
        journal.add_all([(run, result)])
    assert Journal(filled, read_only=True).results[run.key].status == "failed"


@pytest.mark.parametrize("cut", [1, 2, 40, 300])
def test_a_line_that_a_kill_cut_short_is_dropped_and_writing_goes_on(
    filled: Path, make_pair: Callable[..., Any], cut: int
) -> None:
    path = filled / "journal.jsonl"
    os.truncate(path, path.stat().st_size - cut)
    with Journal(filled) as journal:
        assert len(journal.results) == 2
        journal.add_all([make_pair("focal", 0.2, 2)])
    assert len(Journal(filled, read_only=True).results) == 3


def test_results_that_came_together_are_there_together_or_not_at_all(
    tmp_path: Path, make_pair: Callable[..., Any]
) -> None:
    pairs = [make_pair("focal", 0.0, seed) for seed in range(3)]
    with Journal(tmp_path) as journal:
        journal.add_all(pairs)
    assert Journal(tmp_path, read_only=True).results == {run.key: result for run, result in pairs}
    path = tmp_path / "journal.jsonl"
    os.truncate(path, path.stat().st_size - 1)
    assert Journal(tmp_path, read_only=True).results == {}


def test_jobs_that_end_together_wait_for_the_disk_once_and_a_kill_costs_no_more_than_the_last(
    tmp_path: Path, make_pair: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [[make_pair("focal", noise, seed) for seed in range(2)] for noise in (0.0, 0.1, 0.2)]
    flushed: list[int] = []
    fsync = os.fsync
    with Journal(tmp_path) as journal:
        monkeypatch.setattr(os, "fsync", lambda file: flushed.append(file) or fsync(file))
        journal.add_all(*jobs)
        assert isinstance(journal._lease, Lease)
        assert flushed.count(journal._lease.file) == 1
    whole = {run.key: result for job in jobs for run, result in job}
    assert Journal(tmp_path, read_only=True).results == whole
    path = tmp_path / "journal.jsonl"
    os.truncate(path, path.stat().st_size - 1)
    last = {run.key for run, _ in jobs[-1]}
    assert Journal(tmp_path, read_only=True).results.keys() == whole.keys() - last


def test_how_many_seeds_train_side_by_side_is_kept(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.add_group_size("a family", 4)
        assert journal.group_sizes == {"a family": 4}
    assert Journal(tmp_path, read_only=True).group_sizes == {"a family": 4}


def test_a_reader_leaves_a_line_that_is_being_written_alone(filled: Path) -> None:
    path = filled / "journal.jsonl"
    os.truncate(path, path.stat().st_size - 10)
    before = path.read_bytes()
    assert len(Journal(filled, read_only=True).results) == 2
    assert path.read_bytes() == before


def test_a_damaged_line_in_the_middle_is_named(filled: Path) -> None:
    path = filled / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for damaged in (b"\0\0\0\n", b"[1]\n", b'{"record": "result"}\n', b'{"no": "record"}\n', b"\xff\n"):
        path.write_bytes(b"".join([*lines[:2], damaged, *lines[2:]]))
        for read_only in (False, True):
            with pytest.raises(JournalError, match=r"journal\.jsonl:3: must be a record of a sweep, got "):
                Journal(filled, read_only=read_only)


def test_a_damaged_journal_is_not_locked_nor_changed(filled: Path) -> None:
    path = filled / "journal.jsonl"
    damaged = b"nonsense\n" + path.read_bytes()
    path.write_bytes(damaged)
    with pytest.raises(JournalError):
        Journal(filled)
    assert path.read_bytes() == damaged
    path.write_bytes(damaged.removeprefix(b"nonsense\n"))
    Journal(filled).close()


def test_a_journal_has_one_writer_and_any_number_of_readers(filled: Path) -> None:
    with Journal(filled):
        other = _python(f"from setsweep.sweeps.records.journal import Journal; Journal(Path({str(filled)!r}))")
        assert "must be written by one sweep at a time" in other.communicate(timeout=PATIENCE)[1]
        assert other.returncode == 1
        assert len(Journal(filled, read_only=True).results) == 3
    Journal(filled).close()


def test_a_killed_writer_leaves_its_results_and_no_lock(tmp_path: Path) -> None:
    """The process writes on until it is killed; what it had said it wrote is there."""
    writer = _python(f"""
        from setsweep.sweeps.planning.candidate import Candidate
        from setsweep.sweeps.planning.planned_run import PlannedRun
        from setsweep.sweeps.records.journal import Journal
        from setsweep.trainables.config.run_config import RunConfig, Training
        from setsweep.trainables.config.run_result import RunResult
        journal = Journal(Path({str(tmp_path)!r}))
        for seed in range(1_000_000):
            config = RunConfig(data={{}}, model={{}}, loss={{}}, training=Training(), k=(1,), seed=seed)
            candidate = Candidate(arm="a", point={{}}, params={{}}, stage="search", trial=0)
            run = PlannedRun(candidate=candidate, config=config)
            journal.add_all([(run, RunResult(key=config.key, status="done"))])
            print(config.key, flush=True)
    """)
    assert writer.stdout is not None
    said = [writer.stdout.readline().strip() for _ in range(20)]
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read()  # not by communicate, which misses what readline has read ahead
    said += [line.strip() for line in rest.splitlines(keepends=True) if "\n" in line]
    writer.communicate(timeout=PATIENCE)
    with Journal(tmp_path) as journal:
        assert set(said) <= set(journal.results)
        assert len(journal.results) <= len(said) + 1


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match=r"storage must be a folder that can be written, got .*file"):
        Journal(tmp_path / place)


def test_a_folder_in_the_place_of_the_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").mkdir()
    for read_only in (False, True):
        with pytest.raises(JournalError, match="Is a directory"):
            Journal(tmp_path, read_only=read_only)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk without room")
def test_a_full_disk_ends_with_a_clear_error(tmp_path: Path, make_pair: Callable[..., Any]) -> None:
    journal = Journal(tmp_path)
    os.dup2(os.open("/dev/full", os.O_WRONLY), journal._lease.file)
    run, result = make_pair("focal", 0.0, 0)
    with pytest.raises(JournalError, match="must be written to go on, got: No space left on device"):
        journal.add_all([(run, result)])
    assert journal.results == {}, "what is not on disk does not count"
    journal.close()


def test_reading_where_nothing_was_written_finds_nothing_and_makes_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "never", read_only=True)
    assert (journal.results, journal.study) == ({}, None)
    assert not (tmp_path / "never").exists()


def _python(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from pathlib import Path\n" + textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_status_that_nobody_counts_is_refused_with_its_line(
    tmp_path: Path, make_pair: Callable[..., tuple[PlannedRun, RunResult]]
) -> None:
    with Journal(tmp_path) as journal:
        journal.add_all([make_pair("cross_entropy", 0.0, 0)])
    path = tmp_path / FILE
    edited = path.read_text().replace('"status":"done"', '"status":"perfect"')
    path.write_text(edited)
    with pytest.raises(JournalError, match=r"journal\.jsonl:1: must be a record of a sweep, got"):
        Journal(tmp_path, read_only=True)
