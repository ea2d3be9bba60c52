"""One run of a stored study: found by the first letters of its key, and described in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setsweep.sweeps.commands.stored.run_of_study import StoredRun, find_run


@pytest.fixture
def runs(make_study: Callable[..., Any], results: Callable[..., Any]) -> list[StoredRun]:
    """All runs of a study of two points, with a search."""
    study = make_study()
    return [StoredRun(study, planned, result) for planned, result in results(study)]


def test_a_run_is_found_by_as_many_letters_as_tell_it_from_the_others(runs: list[StoredRun]) -> None:
    one = runs[3]
    assert find_run(runs, one.planned.key) is one
    others = [run.planned.key for run in runs if run is not one]
    least = next(n for n in range(1, 17) if not any(key.startswith(one.planned.key[:n]) for key in others))
    assert find_run(runs, one.planned.key[:least]) is one
    assert least == 1 or find_count(runs, one.planned.key[: least - 1]) > 1


def find_count(runs: list[StoredRun], start: str) -> int:
    """How many keys the refusal counts."""
    with pytest.raises(
        ValueError, match=r"^RUN must be the key of one run, got '.*', which \d+ keys begin with\.$"
    ) as caught:
        find_run(runs, start)
    return int(str(caught.value).split()[-4])


def test_letters_that_several_keys_begin_with_are_refused_with_their_number(runs: list[StoredRun]) -> None:
    assert find_count(runs, "") == len({run.planned.key for run in runs})


def test_a_key_of_no_run_is_refused_with_the_nearest(runs: list[StoredRun]) -> None:
    key = runs[0].planned.key
    wrong = ("0" if key[0] != "0" else "1") + key[1:]
    with pytest.raises(
        ValueError, match=f"^RUN must be the key of a run of the study, got '{wrong}'. Did you mean '{key}'"
    ):
        find_run(runs, wrong)
    with pytest.raises(ValueError, match=r"'setsweep logs STUDY' lists keys\.$"):
        find_run([], "zzz")


def test_a_run_that_two_arms_share_is_one(runs: list[StoredRun]) -> None:
    assert find_run([runs[0], runs[0]], runs[0].planned.key) is runs[0]


def test_a_run_is_described_by_arm_point_trial_and_seed_as_far_as_it_has_them(runs: list[StoredRun]) -> None:
    described = {run.described for run in runs}
    assert "avgk, data.label_noise = 0.2, trial 3, seed 1" in described
    assert "cross_entropy, data.label_noise = 0, seed 104" in described
