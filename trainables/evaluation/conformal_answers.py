"""Conformal sets of a trained model as it is served: those that its run was measured by, with their thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.conformal.sets import ConformalSets
from setsweep.trainables.evaluation.conformal import Scorer, Thresholds, conformal_sets

_CHOICES = ("coverage", "score", "calibration")


def as_saved(thresholds: Thresholds, train_class_counts: Tensor) -> dict[str, Any]:
    """What a saved model has of its conformal sets; nothing where there are none."""
    if not thresholds:
        return {}
    by_name = {each.name: found for each, found in thresholds.items()}
    return {"conformal": by_name, "train_class_counts": train_class_counts}


class ConformalAnswers:
    """Makes the conformal sets that a run was measured by.

    Args:
        config: of the run.
        saved: of its model, see `as_saved`.
    """

    def __init__(self, config: RunConfig, saved: Mapping[str, Any]) -> None:
        found = saved.get("conformal", {})
        self.thresholds: Thresholds = {each: found[each.name] for each in conformal_sets(config) if each.name in found}
        self._scorer = Scorer(config, saved["train_class_counts"]) if found else None

    @property
    def defaults(self) -> dict[str, Any]:
        """What is chosen among the sets where nothing is said: the first; nothing where there are none."""
        first = next(iter(self.thresholds), None)
        return {} if first is None else {name: getattr(first, name) for name in _CHOICES}

    def asked(self, options: Mapping[str, Any]) -> ConformalSets:
        """The sets that are asked for.

        Args:
            options: ``coverage``, ``score`` and ``calibration``.

        Raises:
            ValueError: there are none, or others.
        """
        if not self.thresholds:
            raise ValueError("sets must be top or avg, as the run was measured by no conformal sets, got 'conformal'.")
        for name in _CHOICES:
            known = list(dict.fromkeys(getattr(each, name) for each in self.thresholds))
            if options[name] not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {options[name]!r}.")
        return ConformalSets(options["score"], options["calibration"], options["coverage"])

    def sets(self, asked: ConformalSets, probabilities: Tensor) -> Tensor:
        """(rows, classes) bool; what is drawn for a row is the same at every call.

        Args:
            asked: see `asked`.
            probabilities: (rows, classes).
        """
        assert self._scorer is not None, "there are sets to ask for"
        draws = self._scorer.draws("served", len(probabilities))
        thresholds = self.thresholds[asked].to(probabilities.device)
        parts = [
            self._scorer.score(asked.score, part, some) <= thresholds
            for part, some in self._scorer.in_parts(probabilities, draws)
        ]
        return torch.cat(parts)
