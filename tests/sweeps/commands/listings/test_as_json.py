"""What listings print for programs: what sweeps/README.md says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.sweeps.study.text.source import bundled_studies
from setsweep.trainables.models.table import MODELS

SETTING = {"default", "must_be", "default_space", "unit", "about"}


@pytest.mark.parametrize(
    ("listing", "names", "fields"),
    [
        ("studies", bundled_studies(), {"name", "about", "data", "arms"}),
        ("losses", list(LOSSES), {"name", "about", "hyperparameters", "paper"}),
        ("datasets", list(DATASETS), {"name", "about", "settings", "source"}),
        ("models", list(MODELS), {"name", "about", "settings"}),
    ],
)
def test_a_listing_as_json_has_every_row_and_its_fields(
    setsweep: Any, listing: str, names: list[str], fields: set[str]
) -> None:
    said = setsweep(listing, "--json")
    rows = json.loads(said.out)
    assert said.code == 0
    assert [row["name"] for row in rows] == names
    assert all(set(row) == fields for row in rows)
    settings = [each for row in rows for each in (row.get("settings") or row.get("hyperparameters") or {}).values()]
    assert all(set(each) == SETTING for each in settings)


def test_a_hyperparameter_has_its_default_and_its_range(setsweep: Any) -> None:
    losses = {row["name"]: row for row in json.loads(setsweep("losses", "--json").out)}
    alpha = losses["avgk"]["hyperparameters"]["alpha"]
    assert (alpha["default"], alpha["default_space"]) == (1, {"log_uniform": [0.1, 10]})
