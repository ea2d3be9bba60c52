"""A trained model as it is served: what it answers where more is asked for than sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import KeepModel
from setsweep.trainables.evaluation.predictor import SetPredictor
from setsweep.trainables.evaluation.served import ServedPredictor
from setsweep.trainables.loop import train

Sets = np.ndarray[Any, Any]


@pytest.fixture
def served(make_config: Any, digits: Dataset, tmp_path: Path) -> ServedPredictor:
    """A model of one epoch whose thresholds leave some sets empty."""
    config = make_config(data={"name": "digits"}, training={"epochs": 1}, k=[1, 2])
    train(config, dataset=digits, keep_model=KeepModel(folder=tmp_path, criterion="avg1_accuracy"))
    predictor = SetPredictor(tmp_path)
    likely = predictor.probabilities(digits.test.inputs.numpy()).max(axis=1)
    predictor.thresholds[1] = float(np.median(likely))
    return ServedPredictor(predictor)


@pytest.fixture
def images(digits: Dataset) -> Sets:
    return digits.test.inputs.numpy()


def test_without_parameters_it_is_the_predictor(served: ServedPredictor, images: Sets) -> None:
    assert served.defaults == {"k": 1, "sets": "avg", "names": False, "nonempty": False, "probabilities": False}
    assert np.array_equal(served.predict(images), served.predictor.predict(images))
    assert not served.predict(images).any(axis=1).all()  # about half of the sets are empty


def test_an_empty_set_gets_the_most_probable_class_and_others_stay(served: ServedPredictor, images: Sets) -> None:
    sets, whole = served.predict(images), served.predict(images, {"nonempty": True})
    empty = ~sets.any(axis=1)
    assert np.array_equal(whole[~empty], sets[~empty])
    assert (whole[empty].sum(axis=1) == 1).all()
    assert np.array_equal(whole[empty].argmax(axis=1), served.predictor.probabilities(images)[empty].argmax(axis=1))


def test_sets_that_are_not_empty_can_be_had_by_name(served: ServedPredictor, images: Sets) -> None:
    masks = served.predict(images, {"nonempty": True})
    names = served.predict(images, {"nonempty": True, "names": True})
    assert names == [[str(label) for label in np.flatnonzero(row)] for row in masks]


def test_probabilities_are_given_instead_of_sets_whatever_else_is_asked(served: ServedPredictor, images: Sets) -> None:
    probabilities = served.predict(images, {"probabilities": True, "nonempty": True, "names": True})
    assert probabilities.shape == (len(images), 10)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(len(images)), abs=1e-5)


def test_what_the_predictor_refuses_is_refused(served: ServedPredictor, images: Sets) -> None:
    with pytest.raises(ValueError, match=r"^k must be one of \[1, 2\], got 7\.$"):
        served.predict(images, {"k": 7, "nonempty": True})
