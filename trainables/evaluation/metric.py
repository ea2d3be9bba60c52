"""Metric: what a number measures, and the only place that knows how its name is spelled.

``test/macro_avg5_accuracy_few@top5_accuracy`` is a name in full: the split; macro: the mean over classes; the set rule
and its k; the quantity; the group of classes; and the accuracy at whose best epoch on validation it is read, where that
is not its own. ``test/package.module:function`` is a metric of the user's, which no set rule and no group goes with.

Conformal sets have a score and a target coverage in the place of the rule and its k: ``test/lac90_set_size_p50`` is the
median size of the sets that `lac` gives at a coverage of 0.9, ``test/macro_classwise_aps95_coverage_few`` the coverage
of rare classes by sets that `aps` gives with a threshold for each class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from setsweep.data.user_function import FORM
from setsweep.trainables.conformal.measures import OF_CLASSES, OF_EXAMPLES
from setsweep.trainables.conformal.sets import PATTERN, ConformalSets

Split = Literal["train", "val", "test"]
SetRule = Literal["top", "avg"]
Quantity = Literal[
    "accuracy",
    "set_size",
    "loss",
    "classes_present",
    "own",
    "coverage",
    "undercoverage",
    "classes_below_half",
    "size_violation",
    "set_size_p25",
    "set_size_p50",
    "set_size_p75",
    "set_size_p90",
    "empty_sets",
    "single_sets",
]
Group = Literal["few", "medium", "many"]

SET_RULES: tuple[SetRule, ...] = ("top", "avg")
GROUPS: tuple[Group, ...] = ("few", "medium", "many")
FEW, MANY = 20, 100  # a class has few training images below the first, many above the second (two-head paper, Table 2)

_MACRO = "macro_"
_MEASURES = (*OF_EXAMPLES, *OF_CLASSES)  # of conformal sets
_OF_CONFORMAL = "|".join(sorted({name.removeprefix(_MACRO) for name in _MEASURES}, key=len, reverse=True))
_SPELLED = re.compile(
    r"(?:(?P<split>train|val|test)/)?"
    r"(?:(?P<macro>macro_)?(?P<rule>top|avg)(?P<k>[1-9]\d*)_(?P<of_sets>accuracy|set_size)(?:_(?P<group>few|medium|many))?"
    rf"|(?P<macro_of_conformal>macro_)?{PATTERN}_(?P<of_conformal>{_OF_CONFORMAL})"
    r"(?:_(?P<group_of_conformal>few|medium|many))?"
    rf"|(?P<of_split>loss|classes_present)|(?P<own>{FORM.pattern}))"
    r"(?:@(?P<at>\w+))?"
)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a number measures.

    Args:
        quantity: "accuracy" (a share of examples, 0 to 1) and "set_size" (labels) are of sets, "loss" (the mean
            training loss) and "classes_present" (how many classes the split has) are not; "own" is the user's; for
            those of conformal sets see `setsweep.trainables.conformal.measures`.
        rule, k: the sets, of k labels each ("top") or on average ("avg").
        conformal: the sets, where they are conformal.
        macro: the mean over the classes present instead of that over the examples.
        group: over the classes with few, medium or many training images alone.
        split: None where a name has none because only one split is meant.
        own: the function of the user's that measures it, ``package.module:function``.
        at: the accuracy at whose best epoch the number is read; None: its own, see `criterion`.
    """

    quantity: Quantity
    rule: SetRule | None = None
    k: int | None = None
    conformal: ConformalSets | None = None
    macro: bool = False
    group: Group | None = None
    split: Split | None = None
    own: str = ""
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
        macro = _MACRO if self.macro else ""
        sets = f"{self.sets}_" if self.sets else ""
        group = f"_{self.group}" if self.group else ""
        at = f"@{self.at.name}" if self.at else ""
        return f"{split}{macro}{sets}{self.own or self.quantity}{group}{at}"

    @property
    def sets(self) -> str:
        """How the sets are spelled: "avg5", "lac90"; empty where there are none."""
        return f"{self.rule}{self.k}" if self.rule else self.conformal.name if self.conformal else ""

    @property
    def is_accuracy(self) -> bool:
        """Whether more is better, between 0 and 1."""
        return self.quantity == "accuracy"

    @property
    def is_share(self) -> bool:
        """Whether it is a share, or a difference of shares."""
        return self.is_accuracy or (self.conformal is not None and not self.quantity.startswith("set_size"))

    @property
    def more_is_better(self) -> bool:
        """Whether it is: of accuracies, and of the user's own metrics, for which that is the rule."""
        return self.quantity in ("accuracy", "own")

    @property
    def criterion(self) -> Metric | None:
        """The accuracy at whose best epoch the number is read; None: whatever the epoch, it is the same.

        Every accuracy and every metric of the user's is its own; a set size belongs to the average-k accuracy of its k,
        a group of classes to the macro average over all of them. Of conformal sets it is None, too: which one is theirs
        depends on what the run measures, see `criterion_of_conformal`.
        """
        if self.at is not None:
            return self.at
        if self.rule is None:
            return self.on(None) if self.own else None
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


def users_metric(function: str, **others: Any) -> Metric:
    """What a function of the user's measures."""
    return Metric(quantity="own", own=function, **others)


TRAIN_LOSS = Metric(quantity="loss", split="train")
CLASSES_PRESENT = Metric(quantity="classes_present")


def conformal_metric(sets: ConformalSets, measure: str, **others: Any) -> Metric:
    """What `measure` says of conformal sets, by its name in `setsweep.trainables.conformal.measures`."""
    quantity: Any = measure.removeprefix(_MACRO)
    return Metric(quantity=quantity, macro=measure.startswith(_MACRO), conformal=sets, **others)


def conformal_metrics(every: Iterable[ConformalSets]) -> list[Metric]:
    """All that is measured of conformal sets: over all classes, and by group of classes."""
    groups: tuple[Group | None, ...] = (None, *GROUPS)
    return [conformal_metric(sets, measure, group=group) for sets in every for group in groups for measure in _MEASURES]


def criterion_of_conformal(criteria: Iterable[str]) -> str:
    """Of the accuracies that a run measures the one at whose best epoch conformal sets are read: average-k at the
    largest k, the one that a study without a search is about; empty where there is none.
    """
    found = [metric for metric in map(Metric.parse, criteria) if metric.rule == "avg" and not metric.macro]
    return max(found, key=lambda metric: metric.k or 0).name if found else ""


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
    quantity: Any = found["of_sets"] or found["of_split"] or found["of_conformal"] or "own"
    macro = found["macro"] or found["macro_of_conformal"] or ""
    if found["score"] and f"{macro}{quantity}" not in _MEASURES:
        return None
    return Metric(
        quantity=quantity,
        rule=found["rule"],  # type: ignore[arg-type]  # by the pattern
        k=int(found["k"]) if found["k"] else None,
        conformal=ConformalSets.of_match(found) if found["score"] else None,
        macro=bool(macro),
        group=found["group"] or found["group_of_conformal"],  # type: ignore[arg-type]  # by the pattern
        split=found["split"],  # type: ignore[arg-type]  # by the pattern
        own=found["own"] or "",
        at=at,
    )
