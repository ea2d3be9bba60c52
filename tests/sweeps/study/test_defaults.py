"""A study that was begun under other defaults keeps them, and says so; what its file says goes before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.study.defaults import DEFAULTS, as_begun
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study

Read = Callable[..., Study]

TEXT = """\
study: begun-before
data: {{name: digits}}
model: {{name: linear}}
k: [2]
arms:
  avgk: {{alpha: {{log_uniform: [0.1, 10]}}}}
search: {{trials: 4, objective: val/avg2_accuracy{search}}}
{rest}
"""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reading(search: str = "", rest: str = "") -> Study:
        (tmp_path / "s.yaml").write_text(TEXT.format(search=search, rest=rest))
        return read_study(tmp_path / "s.yaml")

    return reading


def test_a_study_of_today_is_as_it_is(read: Read) -> None:
    study = read()
    assert as_begun(study, DEFAULTS) is study


def test_what_the_file_leaves_out_is_as_it_was(read: Read) -> None:
    study = as_begun(read(), 1)
    assert study.search is not None
    assert (study.search.sampler, study.search.seeds, study.confirm.default) == ("tpe", (1000, 1001), False)
    [note] = study.notes
    assert note.startswith("search.sampler: tpe, search.seeds: 2, confirm.default: false, as when")


@pytest.mark.parametrize(
    ("search", "rest", "field", "value"),
    [
        (", sampler: random", "", "sampler", "random"),
        (", seeds: 3", "", "seeds", (1000, 1001, 1002)),
    ],
)
def test_what_the_file_says_goes_before(read: Read, search: str, rest: str, field: str, value: Any) -> None:
    study = as_begun(read(search, rest), 1)
    assert getattr(study.search, field) == value
    assert field not in study.notes[0]


@pytest.mark.parametrize(("defaults", "saturated"), [(1, True), (2, True), (DEFAULTS, False)])
def test_saturated_runs_count_by_their_numbers_where_that_was_so(defaults: int, saturated: bool, read: Read) -> None:
    study = as_begun(read(), defaults)
    assert study.search is not None
    assert study.search.saturated == saturated
    assert study.protocol() == as_begun(read(), defaults).protocol()
    assert "saturated" not in study.protocol()["search"], "or else every study begun before were another"


def test_of_the_second_defaults_nothing_else_is_kept(read: Read) -> None:
    study = as_begun(read(), 2)
    assert (study.search and study.search.seeds, study.confirm.default, study.notes) == ((1000,), True, ())


def test_a_file_that_says_all_needs_no_note(read: Read) -> None:
    given = read(", sampler: gp, seeds: 1", "confirm: {default: true}")
    study = as_begun(given, 1)
    assert study.notes == given.notes
    assert study.search is not None
    assert study.search.sampler == "gp"
    assert not study.search.fill, "trials beyond the combinations were not more seeds then"
