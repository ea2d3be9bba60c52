"""Whether a configuration fits its data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.data import load_dataset
from setsweep.data.augmentation import Augmentation
from setsweep.trainables.config.run_config import Training
from setsweep.trainables.config.sections import check_data, check_model
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": (1, 6)}, "k must be between 1 and num_classes - 1 = 5, got 6."),
        ({"loss": {"name": "topk_hinge", "k": 6}}, "loss.k must be between 1 and num_classes - 1 = 5, got 6."),
        (
            {"training": Training(batch_size=97)},
            "training.batch_size must be <= the number of training examples = 96, got 97.",
        ),
        (
            {"model": {"name": "small_cnn", "width": 4}},
            "model small_cnn must get images (channels, height, width), got",
        ),
        ({"model": {"name": "nowhere:model"}}, "nowhere can't be imported"),
        (
            {"training": Training(batch_size=40, augment=Augmentation(flip=True))},
            "augmentation must be off but for mixup where inputs",
        ),
    ],
)
def test_what_only_the_data_can_tell_is_told(changes: dict[str, Any], message: str, make_config: Any) -> None:
    with pytest.raises(ValueError) as caught:
        check(replace(make_config(), **changes))
    assert message in str(caught.value)


def test_a_masked_square_larger_than_the_images_is_refused(make_config: Any) -> None:
    digits = replace(make_config(), data=check_data({"name": "digits"}), model=check_model({"name": "linear"}))
    check(replace(digits, training=Training(batch_size=64, augment=Augmentation(cutout=8))))
    with pytest.raises(ValueError, match=r"cutout must be <= the side of the images, 8 x 8 pixels, got 9"):
        check(replace(digits, training=Training(batch_size=64, augment=Augmentation(cutout=9))))
