"""Metric: what a number measures, and the only place that knows how its name is spelled.

``test/macro_avg5_accuracy_few@top5_accuracy`` is a name in full: the split; macro: the mean over classes; the set rule
and its k; the quantity; the group of classes; and the accuracy at whose best epoch on validation it is read, where that
is not its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

Split = Literal["train", "val", "test"]
SetRule = Literal["top", "avg"]
Group = Literal["few", "medium", "many"]

SET_RULES: tuple[SetRule, ...] = ("top", "avg")
GROUPS: tuple[Group, ...] = ("few", "medium", "many")

_SPELLED = re.compile(
    r"(?:(?P<split>train|val|test)/)?"
    r"(?:(?P<macro>macro_)?(?P<rule>top|avg)(?P<k>[1-9]\d*)_(?P<of_sets>accuracy|set_size)(?:_(?P<group>few|medium|many))?"
    r"|(?P<of_split>loss|classes_present))"
    r"(?:@(?P<at>\w+))?"
)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a number measures.

    Args:
        quantity: "accuracy" (a share of examples, 0 to 1) and "set_size" (labels) are of sets, "loss" (the mean
            training loss) and "classes_present" (how many classes the split has) are not.
        rule, k: the sets, of k labels each ("top") or on average ("avg").
        macro: the mean over the classes present instead of that over the examples.
        group: over the classes with few, medium or many training images alone.
        split: None where a name has none because only one split is meant.
        at: the accuracy at whose best epoch the number is read; None: its own, see `criterion`.
    """

    quantity: Literal["accuracy", "set_size", "loss", "classes_present"]
    rule: SetRule | None = None
    k: int | None = None
    macro: bool = False
    group: Group | None = None
    split: Split | None = None
    at: Metric | None = None

    @classmethod
    def parse(cls, name: str) -> Metric:
        """The metric of that name.

        Raises:
            ValueError: no metric is spelled like this.
        """
        found = cls.find(name)
        if found is None:
            raise ValueError(f"must be the name of a metric, got {name!r}.")
        return found

    @classmethod
    def find(cls, name: str) -> Metric | None:
        """The metric of that name, or None: no metric is spelled like this."""
        return _parsed(name)

    @property
    def name(self) -> str:
        """How the metric is spelled."""
        split = f"{self.split}/" if self.split else ""
        macro = "macro_" if self.macro else ""
        sets = f"{self.rule}{self.k}_" if self.rule else ""
        group = f"_{self.group}" if self.group else ""
        at = f"@{self.at.name}" if self.at else ""
        return f"{split}{macro}{sets}{self.quantity}{group}{at}"

    @property
    def is_accuracy(self) -> bool:
        """Whether more is better, between 0 and 1."""
        return self.quantity == "accuracy"

    @property
    def criterion(self) -> Metric | None:
        """The accuracy at whose best epoch the number is read; None: whatever the epoch, it is the same.

        Every accuracy is its own; a set size belongs to the average-k accuracy of its k, a group of classes to the
        macro average over all of them.
        """
        if self.at is not None:
            return self.at
        if self.rule is None:
            return None
        return replace(self, quantity="accuracy", group=None, split=None)

    @property
    def plain(self) -> Metric:
        """The same over all examples alike."""
        return replace(self, macro=False, group=None)

    def on(self, split: Split | None) -> Metric:
        """The same on another split."""
        return replace(self, split=split)


def accuracy(rule: SetRule, k: int, **others: Any) -> Metric:
    """The accuracy of sets; `others` are further fields of `Metric`."""
    return Metric(quantity="accuracy", rule=rule, k=k, **others)


def set_size(k: int, **others: Any) -> Metric:
    """The mean size of the average-k sets, which differs from k where a threshold comes from other examples."""
    return Metric(quantity="set_size", rule="avg", k=k, **others)


TRAIN_LOSS = Metric(quantity="loss", split="train")
CLASSES_PRESENT = Metric(quantity="classes_present")


def accuracies(ks: Iterable[int]) -> list[Metric]:
    """Top-k and average-k accuracy for each k, plain and macro."""
    return [accuracy(rule, k, macro=macro) for k in ks for macro in (False, True) for rule in SET_RULES]


def plain_accuracies(ks: Iterable[int]) -> list[Metric]:
    """Top-k and average-k accuracy for each k, over all examples alike."""
    return [accuracy(rule, k) for k in ks for rule in SET_RULES]


def all_metrics(ks: Iterable[int]) -> list[Metric]:
    """All that is measured of the sets: accuracies, those by group of classes, and set sizes."""
    ks = list(ks)
    groups = [replace(each, group=group) for each in accuracies(ks) if each.macro for group in GROUPS]
    return [*accuracies(ks), *groups, *map(set_size, ks)]


@lru_cache(maxsize=10_000)
def _parsed(name: str) -> Metric | None:
    found = _SPELLED.fullmatch(name)
    if found is None or (found["group"] and not found["macro"]) or (found["of_sets"] == "set_size" and found["macro"]):
        return None
    at = None if found["at"] is None else _parsed(found["at"])
    if found["at"] is not None and (at is None or at != at.criterion):
        return None
    quantity: Any = found["of_sets"] or found["of_split"]
    return Metric(
        quantity=quantity,
        rule=found["rule"],  # type: ignore[arg-type]  # by the pattern
        k=int(found["k"]) if found["k"] else None,
        macro=bool(found["macro"]),
        group=found["group"],  # type: ignore[arg-type]  # by the pattern
        split=found["split"],  # type: ignore[arg-type]  # by the pattern
        at=at,
    )
