"""Which process writes a study's journal."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.records.lease import WRITER
from setsweep.sweeps.records.writing import writing_process


def test_it_is_told_while_the_journal_is_open_for_writing(tmp_path: Path) -> None:
    assert writing_process(tmp_path) is None
    with Journal(tmp_path):
        assert writing_process(tmp_path) == os.getpid()
    assert writing_process(tmp_path) is None


def test_what_a_process_that_was_killed_has_left_counts_nothing(tmp_path: Path) -> None:
    Journal(tmp_path).close()
    (tmp_path / WRITER).write_text(json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "since": ""}))
    assert writing_process(tmp_path) is None


def test_a_process_of_another_machine_is_not_taken_for_one_of_this(tmp_path: Path) -> None:
    with Journal(tmp_path):
        (tmp_path / WRITER).write_text(json.dumps({"host": "elsewhere", "pid": 1, "since": ""}))
        with pytest.raises(ValueError, match="must run on this machine, got process 1 on elsewhere"):
            writing_process(tmp_path)
