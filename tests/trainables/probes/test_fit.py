"""Whether a configuration fits its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from setsweep.data import load_dataset
from setsweep.trainables.probes.fit import check_fit

MODELS = """
from torch import nn

def normalised(input_shape):
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)), 3
"""


@pytest.fixture
def normalised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A model with batch normalisation of vectors."""
    (tmp_path / "fit_check_models.py").write_text(MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    return {"name": "fit_check_models:normalised"}


def check(config: Any) -> None:
    check_fit(config, load_dataset(config.data, seed=config.seed))


@pytest.mark.parametrize("batch_size", [1, 5, 19, 95])
def test_a_last_batch_of_one_is_refused_where_batch_normalisation_can_not_take_it(
    make_config: Any, normalised: dict[str, Any], batch_size: int
) -> None:
    config = make_config(model=normalised, training={"batch_size": batch_size})

    with pytest.raises(ValueError, match=rf"^training\.batch_size must leave .*, got {batch_size} for 96 examples\.$"):
        check(config)


@pytest.mark.parametrize("batch_size", [2, 40, 96, "full"])
def test_larger_last_batches_are_welcome(make_config: Any, normalised: dict[str, Any], batch_size: Any) -> None:
    check(make_config(model=normalised, training={"batch_size": batch_size}))


def test_a_last_batch_of_one_is_no_matter_to_other_models(make_config: Any) -> None:
    check(make_config(training={"batch_size": 1}))
