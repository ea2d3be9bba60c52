"""A trained model as it is served: sets by either rule, their names, or the probabilities behind them.

Nothing of MLflow is needed here, and nothing above this folder: an MLflow model carries these files with it, and
answers wherever PyTorch is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setsweep.trainables.evaluation.predictor import SetPredictor

MORE: Mapping[str, Any] = {"nonempty": False, "probabilities": False}


def _load_pyfunc(data_path: str) -> ServedPredictor:
    """Called by MLflow with the folder that was saved; modules that lie in the MLflow model are its own."""
    return ServedPredictor(SetPredictor(Path(data_path), trusted=Path(data_path).parents[:2]))


class ServedPredictor:
    """Answers as its parameters ask.

    Args:
        predictor: the trained model with the threshold of each k.
    """

    def __init__(self, predictor: SetPredictor) -> None:
        self.predictor = predictor

    @property
    def defaults(self) -> dict[str, Any]:
        """What `predict` does where nothing is asked for."""
        return {**self.predictor.defaults, **MORE}

    def predict(self, inputs: npt.NDArray[Any], params: Mapping[str, Any] | None = None) -> Any:
        """The set of each input.

        Args:
            inputs: (batch, channels, height, width) uint8 images or (batch, features) float32.
            params: those of `SetPredictor.predict`; ``nonempty``: whether a set without a class gets the most probable
                one; ``probabilities``: whether those are returned instead of sets.

        Returns:
            (batch, classes) bool: who is in the set; or lists of names; or (batch, classes) float32.

        Raises:
            ValueError: see `SetPredictor.predict`.
        """
        options = {**self.defaults, **(params or {})}
        if options["probabilities"]:
            return self.predictor.probabilities(inputs)
        asked = {name: options[name] for name in self.predictor.defaults}
        if not options["nonempty"]:
            return self.predictor.predict(inputs, asked)
        sets = np.asarray(self.predictor.predict(inputs, {**asked, "names": False}))
        first = np.asarray(self.predictor.predict(inputs, {**asked, "sets": "top", "k": 1, "names": False}))
        sets = np.where(sets.any(axis=1, keepdims=True), sets, first)
        return self.predictor.named(sets) if options["names"] else sets
