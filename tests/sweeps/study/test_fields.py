"""Every field of a study in one list, and found by any part of its path."""

from __future__ import annotations

import re

import pytest

from setsweep.losses import LOSSES
from setsweep.sweeps.study.fields import fields_at, study_groups
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.text.source import bundled_studies
from setsweep.trainables.config.training import flatten


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("avgk", ["arms.avgk.alpha", "arms.avgk.y_in_negatives"]),
        ("lr", ["training.optimizer.lr"]),
        ("optimizer.lr", ["training.optimizer.lr"]),
        ("training.augment.flip", ["training.augment.flip"]),
        ("arms.focal", ["arms.focal.gamma"]),
        ("k", ["k", "compare.k"]),
    ],
)
def test_fields_are_found_by_a_row_and_by_parts_of_their_path(path: str, found: list[str]) -> None:
    assert [field for group in fields_at(path) for field in group.fields] == found


def test_a_section_is_all_of_its_groups() -> None:
    assert {group.name for group in fields_at("arms")} == set(LOSSES)
    assert [group.heading for group in fields_at("data")][:2] == ["data", "data: {name: circle}"]


def test_parts_of_a_word_are_no_parts_of_a_path() -> None:
    with pytest.raises(ValueError, match=re.escape("unknown field 'alph'. Did you mean")):
        fields_at("alph")


def test_what_is_not_there_names_the_nearest_that_is() -> None:
    with pytest.raises(ValueError, match=re.escape("unknown field 'epsilom'. Did you mean")):
        fields_at("epsilom")


def test_a_field_of_the_bundled_studies_is_in_the_list() -> None:
    """Those of sections whose fields do not depend on a name."""
    listed = {field for group in study_groups() for field in group.fields}
    checked = 0
    for name in bundled_studies():
        read = read_study(name)
        for path in flatten(read.training):
            checked += 1
            assert f"training.{path}" in listed
    assert checked
