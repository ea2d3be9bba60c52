"""What a loss says about itself, so that search spaces, records and the command line need no list of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import nn

Value = float | int | bool
Head = Literal["linear", "two_head", "cosine"]
Probabilities = Literal["softmax", "sigmoid"]


@dataclass(frozen=True, kw_only=True)
class Hyperparameter:
    """One number of a loss: its default, the range in which it is legal, and the range worth searching.

    Args:
        default: used where nothing is said; always legal. Its type is the type of the hyperparameter.
        low, high: legal range, both ends included.
        above: an open lower end: the value must be > `above`.
        search: how a study with `default_space` searches it, spelled as in a study file,
            e.g. ``{"log_uniform": (0.1, 10.0)}``, ``{"int": (1, 50)}`` or ``{"choice": (0, 1)}``; None: not searched.
        about: one phrase for listings.
    """

    default: Value
    low: float = -math.inf
    high: float = math.inf
    above: float | None = None
    search: Mapping[str, tuple[Value, ...]] | None = None
    about: str = ""

    def rule(self) -> str:
        """The legal range in words, e.g. ``>= 0``."""
        if isinstance(self.default, bool):
            return "true or false"
        if self.above is not None:
            return f"> {self.above:g}" if math.isinf(self.high) else f"> {self.above:g} and <= {self.high:g}"
        if math.isinf(self.high):
            return f">= {self.low:g}"
        return f"between {self.low:g} and {self.high:g}"

    def check(self, name: str, value: object) -> Value:
        """The value, in the hyperparameter's own type.

        Raises:
            ValueError: the value has another type or lies outside the legal range.
        """
        checked = self._typed(value)
        if checked is None or not self._legal(checked):
            whole = " a whole number" if type(self.default) is int else ""
            raise ValueError(f"{name} must be{whole} {self.rule()}, got {value!r}.")
        return checked

    def _typed(self, value: object) -> Value | None:
        if isinstance(self.default, bool) or isinstance(value, bool):
            return value if isinstance(value, bool) and isinstance(self.default, bool) else None
        if isinstance(value, int | float):
            if isinstance(self.default, float):
                return float(value)
            return int(value) if value == value // 1 else None
        return None

    def _legal(self, value: Value) -> bool:
        above = self.above is None or value > self.above
        return above and self.low <= value <= self.high and not math.isinf(value)


@dataclass(frozen=True, kw_only=True)
class LossDeclaration:
    """A loss as the rest of the project sees it.

    Args:
        name: its name in study files and records.
        module: the ``nn.Module``; called as ``module(num_classes=..., [k=..., class_counts=...,] **hyperparameters)``,
            with those of the bracketed arguments that the `needs_*` fields ask for.
        paper: citation, short.
        about: what sets it is good for, one sentence.
        hyperparameters: by name, in the order of the module's arguments.
        head: the kind of scores it takes. ``two_head`` gives it a pair (multi-label scores, candidate scores).
        probabilities: how its scores become probabilities before they are thresholded.
        needs_k, needs_class_counts, needs_indices, needs_generator: what it must be given.
        soft_labels: whether labels may be (batch, classes) probabilities.
        takes_batches: whether values depend on the whole batch and the module takes ``batches=``: how many batches of
            one size the rows are, one after another. All others but those that need indices go row by row.
    """

    name: str
    module: type[nn.Module]
    paper: str
    about: str
    hyperparameters: Mapping[str, Hyperparameter] = field(default_factory=dict)
    head: Head = "linear"
    probabilities: Probabilities = "softmax"
    needs_k: bool = False
    needs_class_counts: bool = False
    needs_indices: bool = False
    needs_generator: bool = False
    soft_labels: bool = False
    takes_batches: bool = False

    def defaults(self) -> dict[str, Value]:
        """Every hyperparameter with its default."""
        return {name: hyperparameter.default for name, hyperparameter in self.hyperparameters.items()}
