"""Two processes, one study: who may write it, and what becomes of one that was away too long."""

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
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import FILE, WRITER, JournalError, Lease

HOLDER = """
import sys, time
from pathlib import Path
from setsweep.sweeps.records import lease
lease.RENEW_SECONDS = float(sys.argv[2])
lease.machine = lambda: sys.argv[3]
held = lease.Lease(Path(sys.argv[1]))
print("held", flush=True)
while True:
    time.sleep(0.05)
    held.check()
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything in a tenth of its time and less; renewals are six times as frequent as they must be, as ever."""
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.4)
    monkeypatch.setattr(lease, "EXPIRE_SECONDS", 2.4)


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Calls start a process that holds the lease of `tmp_path`, renewed every so many seconds, on some machine."""
    started: list[subprocess.Popen[str]] = []

    def start(renew: float = 0.4, machine: str = "") -> subprocess.Popen[str]:
        words = [sys.executable, "-c", HOLDER, str(tmp_path), str(renew), machine or lease.machine()]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_second_is_told_who_holds_the_study_and_what_to_do(tmp_path: Path, hold: Any) -> None:
    holder = hold()
    told = rf"\(process {holder.pid} on .+, since .+\)\. 'setsweep stop {tmp_path.name}' .* --take-over"
    with pytest.raises(JournalError, match=told):
        Lease(tmp_path)


def test_one_that_is_alive_is_not_taken_over(tmp_path: Path, hold: Any) -> None:
    holder = hold()
    with pytest.raises(JournalError, match=rf"process {holder.pid} on .* is alive"):
        Lease(tmp_path, take_over=True)
    assert holder.poll() is None


def test_what_a_killed_process_of_this_machine_held_is_free_at_once(
    tmp_path: Path, hold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = hold()
    holder.kill()
    holder.wait()
    monkeypatch.setattr(lease, "EXPIRE_SECONDS", 1e6)
    Lease(tmp_path).close()


def test_what_a_killed_process_of_another_machine_held_is_free_when_its_lease_has_expired(
    tmp_path: Path, hold: Any
) -> None:
    holder = hold(machine="another")
    holder.kill()
    holder.wait()
    said: list[str] = []
    with Lease(tmp_path, say=said.append):
        assert json.loads((tmp_path / WRITER).read_text())["pid"] == os.getpid()
    assert len(said) == 1
    assert f"left by process {holder.pid} on " in said[0]
    assert not (tmp_path / WRITER).exists()


def test_where_locks_do_not_reach_a_writer_on_another_machine_is_seen_by_its_renewals(
    tmp_path: Path, hold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(machine="another")
    monkeypatch.setattr(lease, "_lock", lambda file, folder: True)  # a file system that keeps locks to each machine
    with pytest.raises(JournalError, match="is alive"):
        Lease(tmp_path)


def test_a_clock_at_a_quarter_of_the_speed_costs_no_lease(tmp_path: Path, hold: Any) -> None:
    holder = hold(renew=4 * 0.4)
    with pytest.raises(JournalError, match="is alive"):
        Lease(tmp_path, take_over=True)
    assert holder.poll() is None


def test_one_that_hangs_is_taken_over_and_ends_when_it_comes_back(tmp_path: Path, hold: Any) -> None:
    holder = hold()
    (tmp_path / FILE).write_bytes(b'{"record":"look"}\n')
    holder.send_signal(signal.SIGSTOP)
    with Lease(tmp_path, take_over=True) as taken:
        assert (tmp_path / FILE).read_bytes() == b'{"record":"look"}\n'
        holder.send_signal(signal.SIGCONT)
        _, err = holder.communicate(timeout=30)
        assert "StorageLostError" in err
        assert f"taken over by process {os.getpid()} on " in err
        taken.check()
        assert json.loads((tmp_path / WRITER).read_text())["pid"] == os.getpid()


def test_what_one_that_was_taken_over_still_writes_is_in_no_journal(
    tmp_path: Path, make_pair: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Journal(tmp_path)
    old.add_all([make_pair("focal", 0.0, 1)])
    monkeypatch.setattr(lease.Lease, "_keep_renewing", lambda self: None)
    old._lease._closing.set()  # it hangs
    with Journal(tmp_path, take_over=True) as new:
        old.add_all([make_pair("focal", 0.0, 2)])  # between its last look and the write
        with pytest.raises(StorageLostError, match=r"journal\.jsonl must"):
            old.check_there()
        new.add_all([make_pair("focal", 0.0, 3)])
    old.close()
    kept = Journal(tmp_path, read_only=True).results
    assert set(kept) == {make_pair("focal", 0.0, seed)[1].key for seed in (1, 3)}
