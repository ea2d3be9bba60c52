"""Rules of what only a study has: names of folders and records, and the metrics to choose and to compare by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from setsweep.losses.values import nearest, unknown
from setsweep.trainables.conformal.sets import PATTERN, ConformalSets
from setsweep.trainables.evaluation.metric import (
    Metric,
    accuracies,
    all_metrics,
    conformal_metrics,
    set_size,
    users_metric,
)
from setsweep.trainables.settings.rules import Rule, listed, spelled, text, whole

_LONGEST_NAME = 100
_K = "[1-9][0-9]*"
VAL_PATTERN = f"val/(macro_)?(top|avg){_K}_accuracy"
_CONFORMAL = f"(macro_)?{re.sub(r'[?]P?(<[a-z]+>|:)', '', PATTERN)}_[a-z0-9_]+"  # in words that schemas know
TEST_PATTERN = (
    f"test/((top|avg){_K}_accuracy|macro_(top|avg){_K}_accuracy(_(few|medium|many))?|avg{_K}_set_size|{_CONFORMAL})"
)
AT_PATTERN = f"@(macro_)?(top|avg){_K}_accuracy"


def name_rule(what: str) -> Rule:
    """A name of letters, digits, ``-`` and ``_``, at most 100 of them."""
    rule = spelled(r"[A-Za-z0-9_-]{1,100}", f"{what} of letters, digits, - and _")

    def check(value: Any) -> Any:
        if isinstance(value, str) and len(value) > _LONGEST_NAME:
            raise ValueError(f"must be at most {_LONGEST_NAME} characters long, got {len(value)}: {value[:20]!r}....")
        try:
            return rule.check(value)
        except ValueError as error:
            raise ValueError(f"{error}{_why_no_name(value)}") from None

    return replace(rule, check=check)


def _why_no_name(value: object) -> str:
    if type(value) in (int, float):
        return f' A number is a name in quotes: "{value}".'
    return " Letters are a to z, without accents." if isinstance(value, str) and not value.isascii() else ""


def objective_rule(ks: Sequence[int]) -> Rule:
    """A validation metric of one of the set sizes."""
    names = [metric.on("val").name for metric in accuracies(ks)]

    def check(value: object) -> object:
        known = Metric.find(value) if isinstance(value, str) else None
        if known is not None and known.split == "test":
            raise ValueError(f"must be a validation metric, as a choice made on test data spoils them, got {value!r}.")
        if known is not None and known.conformal is not None:
            rule = (
                "as no choice may see the calibration split that conformal sets come from; compare and show take them"
            )
            raise ValueError(f"must be an accuracy or a set size by a rule, {rule}, got {value!r}.")
        if not isinstance(value, str) or value not in (names or [value]):
            raise ValueError(unknown("validation metric", value, names))
        return value

    return Rule("other", check, "the name of a validation metric", _schema(names, VAL_PATTERN))


def objectives_rule(ks: Sequence[int]) -> Rule:
    """A validation metric to maximise, or a list of several, as a tuple; among several also set sizes, minimised."""
    one = objective_rule(ks)
    sizes = [set_size(k, split="val").name for k in ks]

    def check(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            return (one.check(value),)
        found = tuple(each if each in sizes else one.check(each) for each in value)
        if not found or len(set(found)) < len(found):
            raise ValueError(f"must be one metric or more, each once, got {list(value)!r}.")
        if found[0] in sizes:
            raise ValueError(f"must begin with an accuracy, which says what is best of one, got {found[0]!r}.")
        return found

    item = {"anyOf": [dict(one.schema), _schema(sizes, f"val/avg{_K}_set_size")]}
    several = {"type": "array", "items": item, "minItems": 1, "uniqueItems": True}
    schema = {"if": {"type": "array"}, "then": several, "else": dict(one.schema)}
    return Rule("other", check, "the name of a validation metric, or a list of several", schema)


def primary_rule(ks: Sequence[int]) -> Rule:
    """A test accuracy of one of the set sizes, or None: not said."""
    names = [metric.on("test").name for metric in all_metrics(ks) if metric.is_accuracy]

    def check(value: object) -> object:
        # Where the set sizes are broken, that is told alone.
        legal = value in names if names else isinstance(value, str) and re.fullmatch(TEST_PATTERN, value)
        if value is not None and not legal:
            raise ValueError(unknown("test accuracy", value, names))
        return value

    schema = {"anyOf": [_schema(names, TEST_PATTERN), {"type": "null"}]}
    return Rule("other", check, "the name of a test accuracy", schema)


def looks_rule() -> Rule:
    """Ascending numbers of seeds, or "anytime", or None: one look."""
    numbers = listed(whole(3, high=1000), ascending=True)

    def check(value: object) -> object:
        if value is None or value == "anytime":
            return value
        if not isinstance(value, list | tuple) or not value:
            raise ValueError(f"must be ascending numbers of seeds or anytime, got {value!r}.")
        return numbers.check(value)

    schema = {"anyOf": [{**numbers.schema, "minItems": 1}, {"enum": ["anytime", None]}]}
    return Rule("other", check, "ascending numbers of seeds, or anytime", schema)


def metrics_rule(
    ks: Sequence[int], own: Sequence[str] = (), *, none: bool = False, conformal: Sequence[ConformalSets] = ()
) -> Rule:
    """A list of distinct test metrics, each also at the best epoch of another accuracy.

    Args:
        ks: the set sizes; none: any.
        own: the study's metrics of the user's.
        none: whether the list may be empty.
        conformal: the conformal sets, which have metrics as well.
    """
    of_k = [metric.on("test").name for metric in (*all_metrics(ks), *map(users_metric, own if ks else ()))]
    names = [*of_k, *(metric.on("test").name for metric in conformal_metrics(conformal))]
    shown = [*of_k, *(f"test/{sets.name}_..." for sets in conformal)]  # each has 48 of them
    criteria = [metric.name for metric in accuracies(ks)]

    def check(value: object) -> tuple[str, ...]:
        metrics: tuple[str, ...] = listed(text()).check(value)
        for metric in metrics if names else ():  # where the set sizes are broken, that is told alone
            _check_metric(metric, names, criteria, shown)
        if not (metrics or none) or len(set(metrics)) < len(metrics):
            raise ValueError(f"must be one metric or more, each once, got {list(metrics)!r}.")
        return metrics

    first, at = ("|".join(names), f"@({'|'.join(criteria)})") if names else (TEST_PATTERN, AT_PATTERN)
    item = {"anyOf": [_schema(names, TEST_PATTERN), {"type": "string", "pattern": f"^({first}){at}$"}]}
    schema = {"type": "array", "items": item, "minItems": 0 if none else 1, "uniqueItems": True}
    return Rule("other", check, "a list of test metrics", schema)


def _check_metric(metric: str, names: Sequence[str], criteria: Sequence[str], shown: Sequence[str]) -> None:
    """Raise ValueError unless it is one of `names`, alone or with ``@`` and another one of `criteria`.

    A message shows those of `shown`.
    """
    own, read_at, criterion = metric.partition("@")
    if own not in names:
        raise ValueError(f"unknown test metric {own!r}.{nearest(own, names)} Known: {', '.join(sorted(shown))}.")
    if read_at and criterion not in criteria:
        raise ValueError(unknown("accuracy to read it at", criterion, criteria))
    known = Metric.parse(own).criterion
    if known is not None and known.name == criterion:
        raise ValueError(f"must be {own} alone at the best epoch of its own, got {metric!r}.")


def _schema(names: Sequence[str], pattern: str) -> dict[str, Any]:
    """The names that there are; where no set size is known, what they look like."""
    return {"enum": list(names)} if names else {"type": "string", "pattern": f"^{pattern}$"}
