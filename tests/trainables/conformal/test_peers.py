"""Ours beside MAPIE and crepes, to 1e-6, on random scores, where they overlap: `lac`, one threshold or one a class.

(MAPIE's other scores draw when they are calibrated, from a generator of their own.)
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from crepes import WrapClassifier
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import Tensor

from setsweep.trainables.conformal.quantiles import classwise, marginal
from setsweep.trainables.conformal.scores import lac

CLASSES = 6
COVERAGES = [0.83, 0.91, 0.957]  # crepes keeps a p-value of just 1 - coverage, which these have with no number here


class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose inputs are its probabilities."""

    def fit(self, inputs: np.ndarray, labels: np.ndarray) -> Given:  # type: ignore[type-arg]
        self.classes_, self.fitted_ = np.arange(CLASSES), True
        return self

    def predict_proba(self, inputs: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return inputs

    def predict(self, inputs: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return inputs.argmax(1)


@pytest.fixture(scope="module")
def examples() -> tuple[Tensor, Tensor, Tensor]:
    """Probabilities (700, 6) to calibrate on, their labels, and probabilities (200, 6) to make sets of."""
    generator = torch.Generator().manual_seed(1)
    rows = (2 * torch.randn(900, CLASSES, generator=generator, dtype=torch.float64)).softmax(1)
    return rows[:700], rows[:700].multinomial(1, generator=generator).squeeze(1), rows[700:]


def own_scores(rows: Tensor, labels: Tensor) -> Tensor:
    return lac(rows).gather(1, labels.unsqueeze(1)).squeeze(1)


def test_thresholds_and_sets_of_mapie(examples: tuple[Tensor, Tensor, Tensor]) -> None:
    calibration, labels, rows = examples
    theirs = SplitConformalClassifier(
        Given().fit(np.zeros((1, CLASSES)), np.zeros(1)),
        confidence_level=COVERAGES,
        conformity_score="lac",
        prefit=True,
    )
    theirs.conformalize(calibration.numpy(), labels.numpy())
    _, sets = theirs.predict_set(rows.numpy())
    quantiles = theirs._mapie_classifier.conformity_score_function_.quantiles_
    for place, coverage in enumerate(COVERAGES):
        found = marginal(own_scores(calibration, labels), CLASSES, coverage)
        assert found[0].item() == pytest.approx(quantiles[place], abs=1e-6)
        assert torch.equal(lac(rows) <= found, torch.from_numpy(sets[:, :, place]))


@pytest.mark.parametrize("mondrian", [False, True])
def test_sets_of_crepes(mondrian: bool, examples: tuple[Tensor, Tensor, Tensor]) -> None:
    calibration, labels, rows = examples
    theirs = WrapClassifier(Given().fit(np.zeros((1, CLASSES)), np.zeros(1)))
    theirs.calibrate(calibration.numpy(), labels.numpy(), class_cond=mondrian)
    own = own_scores(calibration, labels)
    for coverage in COVERAGES:
        sets = theirs.predict_set(rows.numpy(), confidence=coverage, smoothing=False)
        found = classwise(own, labels, CLASSES, coverage) if mondrian else marginal(own, CLASSES, coverage)
        assert torch.equal(
            lac(rows) <= found, torch.tensor([[label in each for label in range(CLASSES)] for each in sets])
        )
