"""A trained model that answers with sets: what training saved in ``model.pt``, with the threshold of each k.

It has every rule: sets of k classes, sets of k classes on average and, where the run was calibrated, conformal sets at
a target coverage. They are made by the comparisons that evaluation makes, so that they are as right and as large as the
run reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from setsweep.data.batches import normalise
from setsweep.data.dataset import Dataset
from setsweep.data.trust import check_trusted
from setsweep.data.user_function import is_own
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.conformal_answers import ConformalAnswers, as_saved
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.metric import SET_RULES, Metric, accuracy
from setsweep.trainables.evaluation.probabilities import probabilities_of, scale_of, to_probabilities
from setsweep.trainables.evaluation.sets import top_sets
from setsweep.trainables.evaluation.thresholds import at_least
from setsweep.trainables.models.classifier import build_model

BATCH = 1024


def predictor(history: History, dataset: Dataset) -> dict[str, Any]:
    """What a predictor needs of a trained model, as it is saved: weights, the thresholds that go with them, and how the
    data set gives its inputs in.
    """
    weights, thresholds, conformal = history.saved_model()
    counts = torch.bincount(dataset.train.labels, minlength=dataset.num_classes)
    return {
        "config": history.config.to_dict(),
        "head": loss_declaration(history.config.loss["name"]).head,  # a user's own loss may be away when it predicts
        "state": weights,
        "thresholds": {str(k): threshold for k, threshold in thresholds.items()},
        **as_saved(conformal, counts),
        "criterion": history.criterion,
        "probabilities": probabilities_of(history.config),
        "scale": scale_of(history.config),
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
        trusted: folders whose modules may give the model, besides what `data.trust` allows: a file must not be able to
            have any function called.

    Raises:
        ValueError: the model is a function of a module that may not be called.
    """

    def __init__(self, folder: Path, *, trusted: Iterable[Path] = ()) -> None:
        saved = torch.load(folder / "model.pt", map_location="cpu", weights_only=True)
        config = RunConfig.from_dict(saved["config"])
        if is_own(config.model["name"]):
            check_trusted(config.model["name"], "model", trusted)
        self.thresholds = {int(k): float(threshold) for k, threshold in saved["thresholds"].items()}
        self.conformal = ConformalAnswers(config, saved)
        self.input_shape = tuple(saved["input_shape"])
        self.num_classes = int(saved["num_classes"])
        self.class_names = tuple(saved["class_names"])
        self._mean, self._std = saved["mean"], saved["std"]
        self._head = 0 if config.training.head == "ml" else 1
        self._kind, self._scale = saved["probabilities"], saved.get("scale", 1.0)
        first = saved.get("criterion", accuracy("avg", min(self.thresholds)).name)
        self.criterion = Metric.parse(first)
        self._model = build_model(
            config.model,
            head=saved.get("head") or loss_declaration(config.loss["name"]).head,
            input_shape=self.input_shape,
            num_classes=self.num_classes,
            seed=0,
            pretrained=False,
        )
        self._model.load_state_dict(saved["state"])
        self._model.eval()

    @property
    def defaults(self) -> dict[str, Any]:
        """What `predict` does where nothing is asked for: the sets of the accuracy that the model was kept for."""
        own = {"k": self.criterion.k, "sets": self.criterion.rule, "names": False}
        return {**own, **self.conformal.defaults}

    def predict(
        self, inputs: npt.NDArray[Any], params: Mapping[str, Any] | None = None
    ) -> npt.NDArray[np.bool_] | list[list[str]]:
        """The set of each input.

        Args:
            inputs: (batch, channels, height, width) uint8 images or (batch, features) float32.
            params: ``sets``: "avg": the classes whose probability reaches the threshold of ``k``, so that the sets
                have k classes on average; "top": the k classes with the largest scores; "conformal": those that
                make the set hold the label with a probability of ``coverage``. ``k``: for "avg" a set size of the
                study, for "top" any. ``coverage``, ``score``, ``calibration``: of conformal sets, one of those that the
                run was measured by. ``names``: whether sets are returned as lists of class names (indices as text,
                where the classes have no names). For those left out see `defaults`.

        Returns:
            (batch, classes) bool: who is in the set; or the names.

        Raises:
            ValueError: another rule; a `k` for which there is no threshold, or more classes than there are; conformal
                sets that the run was not measured by.
        """
        options = {**self.defaults, **(params or {})}
        self._check(options)
        parts = [self._sets(torch.tensor(part), options) for part in _batches(inputs)]
        sets = torch.cat(parts).numpy() if parts else np.zeros((0, self.num_classes), np.bool_)
        return self.named(sets) if options["names"] else sets

    def named(self, sets: npt.NDArray[np.bool_]) -> list[list[str]]:
        """The class names of each set; indices as text, where the classes have no names."""
        names = self.class_names or [str(label) for label in range(self.num_classes)]
        return [[names[label] for label in np.flatnonzero(row)] for row in sets]

    @torch.inference_mode()
    def probabilities(self, inputs: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """(batch, classes): what the thresholds are compared with."""
        parts = [self._probabilities(self._scores(torch.tensor(part))) for part in _batches(inputs)]
        return torch.cat(parts).numpy() if parts else np.zeros((0, self.num_classes), np.float32)

    def _check(self, options: Mapping[str, Any]) -> None:
        rule, k = options["sets"], options["k"]
        if rule == "conformal":
            self.conformal.asked(options)
        elif rule not in SET_RULES:
            known = (*SET_RULES, "conformal") if self.conformal.thresholds else SET_RULES
            raise ValueError(f"sets must be one of {', '.join(known)}, got {rule!r}.")
        if rule == "avg" and k not in self.thresholds:
            raise ValueError(f"k must be one of {sorted(self.thresholds)}, got {k}.")
        if rule == "top" and not 1 <= k <= self.num_classes:
            raise ValueError(f"k must be between 1 and num_classes = {self.num_classes}, got {k}.")

    @torch.inference_mode()
    def _sets(self, inputs: torch.Tensor, options: Mapping[str, Any]) -> torch.Tensor:
        scores = self._scores(inputs)
        if options["sets"] == "top":
            return top_sets(scores, options["k"])
        likely = self._probabilities(scores)
        if options["sets"] == "conformal":
            return self.conformal.sets(self.conformal.asked(options), likely)
        return at_least(likely, self.thresholds[options["k"]])

    def _scores(self, inputs: torch.Tensor) -> torch.Tensor:
        scores: Any = self._model(normalise(inputs, self._mean, self._std))
        chosen: torch.Tensor = scores[self._head] if isinstance(scores, tuple) else scores
        return chosen

    def _probabilities(self, scores: torch.Tensor) -> torch.Tensor:
        return to_probabilities(scores, self._kind, self._scale)


def _batches(inputs: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    return [inputs[start : start + BATCH] for start in range(0, len(inputs), BATCH)]
