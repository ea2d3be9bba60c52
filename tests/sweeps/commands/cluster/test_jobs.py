"""The exit code of a job is that of its command, and who waits for it waits for the cluster too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from setsweep.sweeps.commands.cluster import jobs
from setsweep.sweeps.commands.cluster.jobs import exit_code, watch
from setsweep.sweeps.execution.job_service import JobService, LostClusterError, Submitted, UnknownJobError

MESSAGE = "Job entrypoint command failed with exit code -9, last available logs (truncated to 20,000 chars):\na table"


@pytest.mark.parametrize(
    ("state", "code", "expected"),
    [
        ("done", 0, 0),
        ("stopped", None, 130),
        ("failed", 2, 2),
        ("failed", 1, 1),
        ("failed", -9, 1),
        ("failed", None, 1),
    ],
)
def test_it_is_that_of_the_command(state: str, code: int | None, expected: int) -> None:
    assert exit_code(Submitted(name="a", study="a", storage="", state=state, exit_code=code, message="")) == expected


def test_one_that_was_killed_is_told_with_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    job = Submitted(name="pairs-1", study="pairs", storage="", state="failed", exit_code=-9, message=MESSAGE)
    assert exit_code(job) == 1
    assert capsys.readouterr().err == (
        "setsweep: pairs-1 must go on to its end, got: Job entrypoint command failed with exit code -9. "
        "'setsweep resume pairs' goes on with it.\n"
    )


class Breaking:
    """A cluster that breaks off after some letters of what a job says, and is away for some questions.

    Args:
        breaks: after how many letters, each time.
        away: for how many questions after each.
        forgets: whether it comes back without the job.
    """

    def __init__(self, breaks: list[int], away: int = 0, *, forgets: bool = False) -> None:
        self._breaks, self._away, self._forgets, self._left = breaks, away, forgets, 0

    def follow(self, name: str) -> Iterator[str]:
        """In pieces of three letters."""
        end = self._breaks.pop(0) if self._breaks else len(TEXT)
        yield from (TEXT[at : min(at + 3, end)] for at in range(0, end, 3))
        if end < len(TEXT):
            self._left = self._away
            raise LostClusterError("it does not answer")

    def get(self, name: str) -> Any:
        """Done, when it is back."""
        self._left -= 1
        if self._left >= 0:
            raise LostClusterError("it does not answer")
        if self._forgets:
            raise UnknownJobError("it knows nothing")
        return Submitted(name=name, study="a", storage="", state="done", exit_code=0)


TEXT = "one line\nanother line\n"


@pytest.mark.parametrize("breaks", [[], [0], [9], [4, 4, 13], [10, 2, 21]])
def test_what_is_said_is_shown_once_however_often_the_line_breaks(
    breaks: list[int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.0)
    assert watch(cast("JobService", Breaking(breaks, away=3)), "a-1") == 0
    assert capsys.readouterr().out == TEXT


def test_a_cluster_that_stays_away_or_forgets_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.0)
    with pytest.raises(UnknownJobError, match="it knows nothing"):
        watch(cast("JobService", Breaking([4], forgets=True)), "a-1")
    monkeypatch.setattr(jobs, "AWAY_SECONDS", 0.1)
    with pytest.raises(LostClusterError, match="it does not answer"):
        watch(cast("JobService", Breaking([4], away=10**9)), "a-1")
