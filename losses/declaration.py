"""What a loss says about itself, so that search spaces, records and the command line need no list of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from setsweep.losses.values import Number, check_flag

if TYPE_CHECKING:
    from torch import nn

Value = float | int | bool
Head = Literal["linear", "two_head", "cosine"]
Probabilities = Literal["softmax", "sigmoid"]


@dataclass(frozen=True, kw_only=True)
class Hyperparameter:
    """One number, or true or false, that a loss takes.

    Args:
        default: used where nothing is said; always legal. Its type is the type of the hyperparameter.
        low, high: ends of the legal range, included; `above`: a lower end that is not.
        search: how a study with `default_space` searches it, spelled as in a study file,
            e.g. ``{"log_uniform": (0.1, 10.0)}``, ``{"int": (1, 50)}`` or ``{"choice": (0, 1)}``; None: not searched.
        unit: what it is counted in, e.g. "scores"; empty where it has none.
        about: what it does, one phrase.
        later: it came after the first results: a run with its default is the run that it was before.
    """

    default: Value
    low: float | None = None
    above: float | None = None
    high: float | None = None
    search: Mapping[str, tuple[Value, ...]] | None = None
    unit: str = ""
    about: str = ""
    later: bool = False

    def check(self, name: str, value: object) -> Value:
        """The value, in the hyperparameter's own type.

        Raises:
            ValueError: the value has another type or lies outside the legal range.
        """
        try:
            return check_flag(value) if isinstance(self.default, bool) else self.number.check(value)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None

    @property
    def number(self) -> Number:
        """What the number must be."""
        return Number(whole=isinstance(self.default, int), low=self.low, above=self.above, high=self.high)


@dataclass(frozen=True, kw_only=True)
class LossDeclaration:
    """A loss as the rest of the project sees it.

    Args:
        name: its name in study files and records.
        module: the ``nn.Module``, or what makes it; called as ``module(num_classes=..., **needed,
            **hyperparameters)``, where `needed` has those of k, class_counts, num_examples and generator that the
            `needs_*` fields ask for.
        paper: citation, short.
        about: what sets it is good for, one sentence.
        hyperparameters: by name, in the order of the module's arguments.
        head: the kind of scores it takes. ``two_head`` gives it a pair, e.g. (multi-label scores, candidate scores).
        either_head_predicts: of two heads, whether the second can be asked for the classes; else the first alone can.
        probabilities: how its scores become probabilities before they are thresholded.
        scaled_by: the hyperparameter that they are multiplied with before; empty: none.
        revision: raised whenever a change makes the same configuration of this loss give another result.
        needs_k, needs_class_counts, needs_indices, needs_generator: what it must be given.
        soft_labels: whether labels may be (batch, classes) probabilities.
        stops_gradient: whether its gradient holds something constant that its values depend on.
        apart: whether the seeds of a group are computed one by one whatever else is said: of a user's own it is not
            known whether values depend on the rest of the batch.
        takes_batches: whether values depend on the whole batch and the module takes ``batches=``: how many batches of
            one size the rows are, one after another. All others but those that need indices go row by row.
    """

    name: str
    module: Callable[..., nn.Module]
    paper: str
    about: str
    hyperparameters: Mapping[str, Hyperparameter] = field(default_factory=dict)
    head: Head = "linear"
    either_head_predicts: bool = True
    probabilities: Probabilities = "softmax"
    scaled_by: str = ""
    revision: int = 0
    needs_k: bool = False
    needs_class_counts: bool = False
    needs_indices: bool = False
    needs_generator: bool = False
    soft_labels: bool = False
    stops_gradient: bool = False
    apart: bool = False
    takes_batches: bool = False

    def defaults(self) -> dict[str, Value]:
        """Every hyperparameter with its default."""
        return {name: hyperparameter.default for name, hyperparameter in self.hyperparameters.items()}
