"""A trained model that answers with sets: what training saved in ``model.pt``, with the threshold of each k."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from setsweep.data.batches import normalise
from setsweep.data.dataset import Dataset
from setsweep.losses import LOSSES
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.probabilities import probabilities_of
from setsweep.trainables.models.table import build_model

BATCH = 1024


def predictor(history: History, dataset: Dataset) -> dict[str, Any]:
    """What a predictor needs of a trained model, as it is saved: weights, the thresholds that go with them, and how the
    data set gives its inputs in.
    """
    weights, thresholds = history.saved_model()
    return {
        "config": history.config.to_dict(),
        "state": weights,
        "thresholds": {str(k): threshold for k, threshold in thresholds.items()},
        "probabilities": probabilities_of(history.config),
        "num_classes": dataset.num_classes,
        "input_shape": list(dataset.input_shape),
        "mean": dataset.mean,
        "std": dataset.std,
        "class_names": list(dataset.class_names),
    }


class SetPredictor:
    """Inputs as the data set gives them in, sets of classes out.

    Args:
        folder: where training saved ``model.pt``.
    """

    def __init__(self, folder: Path) -> None:
        saved = torch.load(folder / "model.pt", map_location="cpu", weights_only=True)
        config = RunConfig.from_dict(saved["config"])
        self.thresholds = {int(k): float(threshold) for k, threshold in saved["thresholds"].items()}
        self.input_shape = tuple(saved["input_shape"])
        self.num_classes = int(saved["num_classes"])
        self.class_names = tuple(saved["class_names"])
        self._mean, self._std = saved["mean"], saved["std"]
        self._head = 0 if config.training.head == "ml" else 1
        self._softmax = saved["probabilities"] == "softmax"
        self._model = build_model(
            config.model,
            head=LOSSES[config.loss["name"]].head,
            input_shape=self.input_shape,
            num_classes=self.num_classes,
            seed=0,
            pretrained=False,
        )
        self._model.load_state_dict(saved["state"])
        self._model.eval()

    def predict(
        self, inputs: npt.NDArray[Any], params: Mapping[str, Any] | None = None
    ) -> npt.NDArray[np.bool_] | list[list[str]]:
        """The set of each input: the classes whose probability reaches the threshold of `k`.

        Args:
            inputs: (batch, channels, height, width) uint8 images or (batch, features) float32.
            params: ``k``: a set size of the study (default: its smallest); ``names``: whether sets are returned as
                lists of class names (indices as text, where the classes have no names).

        Returns:
            (batch, classes) bool: who is in the set; or the names.

        Raises:
            ValueError: a `k` for which there is no threshold.
        """
        options = {"k": min(self.thresholds), "names": False, **(params or {})}
        if options["k"] not in self.thresholds:
            raise ValueError(f"k must be one of {sorted(self.thresholds)}, got {options['k']}.")
        sets = self.probabilities(inputs) >= self.thresholds[options["k"]]
        if not options["names"]:
            return sets
        names = self.class_names or [str(label) for label in range(self.num_classes)]
        return [[names[label] for label in np.flatnonzero(row)] for row in sets]

    @torch.inference_mode()
    def probabilities(self, inputs: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """(batch, classes): what the thresholds are compared with."""
        parts = [self._probabilities(torch.tensor(part)) for part in _batches(inputs)]
        return torch.cat(parts).numpy() if parts else np.zeros((0, self.num_classes), np.float32)

    def _probabilities(self, inputs: torch.Tensor) -> torch.Tensor:
        scores = self._model(normalise(inputs, self._mean, self._std))
        if isinstance(scores, tuple):
            scores = scores[self._head]
        probabilities: torch.Tensor = scores.softmax(dim=1) if self._softmax else scores.sigmoid()
        return probabilities


def _batches(inputs: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    return [inputs[start : start + BATCH] for start in range(0, len(inputs), BATCH)]
