"""The exit code of a job is that of its command."""

from __future__ import annotations

import pytest

from setsweep.sweeps.commands.cluster.jobs import exit_code
from setsweep.sweeps.execution.job_service import Submitted

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
