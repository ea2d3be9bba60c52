"""What a user's own loss says of itself, read from its text: its signature, and what `declares` stands above it.

Nothing is run and nothing imported, so that a study that names a loss is still data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, get_args

from setsweep.losses.declaration import Head, Hyperparameter, Probabilities, Value
from setsweep.losses.values import unknown

Decorated = TypeVar("Decorated")
Definition = ast.FunctionDef | ast.ClassDef

GIVEN = ("num_classes", "k", "class_counts", "num_examples", "generator")
"""What a loss may be given when it is made, besides its hyperparameters."""

WITH_A_BATCH = ("indices", "batches")
"""What it may be given with every batch, besides scores and labels."""

TYPES: Mapping[str, type] = {"float": float, "int": int, "bool": bool}
_RANGE = tuple(each.name for each in fields(Hyperparameter) if each.name not in ("default", "later"))


def declares(
    *,
    head: Head = "linear",
    either_head_predicts: bool = True,
    probabilities: Probabilities = "softmax",
    scaled_by: str = "",
    soft_labels: bool = False,
    stops_gradient: bool = False,
    revision: int = 0,
    paper: str = "",
    about: str = "",
    ranges: Mapping[str, Mapping[str, Any]] | None = None,
) -> Any:
    """Written above a loss of one's own, says what its signature does not; all of it in literals.

    Args:
        head, either_head_predicts, probabilities, scaled_by, soft_labels, stops_gradient, revision, paper, about: see
            `LossDeclaration`.
        ranges: of hyperparameters, by name: `low`, `above`, `high`, `search`, `unit` and `about` of `Hyperparameter`.
    """

    def unchanged(loss: Decorated) -> Decorated:
        return loss

    return unchanged


_CHOICES: Mapping[str, tuple[str, ...]] = {"head": get_args(Head), "probabilities": get_args(Probabilities)}
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("either_head_predicts", "soft_labels", "stops_gradient"), bool),
    **dict.fromkeys(("scaled_by", "paper", "about"), str),
    "revision": int,
    "ranges": dict,
}


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What is known of a loss by its text.

    Args:
        is_class: an ``nn.Module`` that is made first, and no function.
        takes: those of `GIVEN` and `WITH_A_BATCH` that it has arguments for.
        hyperparameters: its other arguments.
        said: the fields of `declares`, but for the ranges.
    """

    is_class: bool
    takes: tuple[str, ...]
    hyperparameters: Mapping[str, Hyperparameter]
    said: Mapping[str, Any] = field(default_factory=dict)


def read_signature(text: str, name: str) -> Signature:
    """The signature of a function or class of a module's text.

    Args:
        text: of the module.
        name: of the function or class.

    Raises:
        ValueError: no such function, or one whose arguments are no hyperparameters.
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"its module must be Python, got: {error}.") from None
    found = [each for each in module.body if isinstance(each, Definition) and each.name == name]
    if not found:
        others = sorted(each.name for each in module.body if isinstance(each, Definition) and each.name[0] != "_")
        raise ValueError(unknown("function or class of its module", name, others))
    said = _said(found[-1])
    ranges = said.pop("ranges", {})
    takes, hyperparameters = _arguments(found[-1], ranges)
    if strangers := ranges.keys() - hyperparameters.keys():
        raise ValueError(unknown("hyperparameter in ranges", min(strangers), hyperparameters))
    if said.get("scaled_by") and said["scaled_by"] not in hyperparameters:
        raise ValueError(unknown("hyperparameter in scaled_by", said["scaled_by"], hyperparameters))
    about = (ast.get_docstring(found[-1]) or "Your own.").partition("\n")[0]
    return Signature(
        is_class=isinstance(found[-1], ast.ClassDef),
        takes=takes,
        hyperparameters=hyperparameters,
        said={"about": about, "paper": "", **said},
    )


def _said(definition: Definition) -> dict[str, Any]:
    """What its `declares` says."""
    for each in definition.decorator_list:
        if isinstance(each, ast.Call) and ast.unparse(each.func).rpartition(".")[2] == declares.__name__:
            return {keyword.arg or "**": _field(keyword.arg or "**", keyword.value) for keyword in each.keywords}
    return {}


def _field(name: str, node: ast.expr) -> Any:
    known = {*_CHOICES, *_TYPES}
    if name not in known:
        raise ValueError(unknown("field of declares", name, known))
    value = _literal(f"declares: {name}", node)
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(f"declares: {name} must be one of {', '.join(_CHOICES[name])}, got {value!r}.")
    if name in _TYPES and type(value) is not _TYPES[name]:
        raise ValueError(f"declares: {name} must be of type {_TYPES[name].__name__}, got {value!r}.")
    return value


def _arguments(definition: Definition, ranges: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Hyperparameter]]:
    """What it takes of what is given, and its hyperparameters; those of a class are of its ``__init__``."""
    methods = definition.body if isinstance(definition, ast.ClassDef) else []
    own = {each.name: each for each in methods if isinstance(each, ast.FunctionDef)}
    with_batch = own.get("forward") if isinstance(definition, ast.ClassDef) else definition
    if with_batch is None:
        raise ValueError(f"{definition.name} must have a method forward(self, scores, labels), got none.")
    made = own.get("__init__") if isinstance(definition, ast.ClassDef) else definition
    first = 1 if isinstance(definition, ast.ClassDef) else 0  # self
    _check_first(with_batch, first)
    pairs = list(_pairs(made, first or 2)) if made is not None else []
    names = {name for name, _, _ in pairs} | {name for name, _, _ in _pairs(with_batch, first + 2)}
    hyperparameters = {
        name: _hyperparameter(name, annotation, default, ranges.get(name, {}))
        for name, annotation, default in pairs
        if name not in (*GIVEN, *WITH_A_BATCH)
    }
    return tuple(name for name in (*GIVEN, *WITH_A_BATCH) if name in names), hyperparameters


def _check_first(function: ast.FunctionDef, first: int) -> None:
    positional = [*function.args.posonlyargs, *function.args.args]
    if len(positional) < first + 2:
        raise ValueError(
            f"{function.name} must take scores and labels first, got {ast.unparse(function.args) or '()'}."
        )


def _pairs(function: ast.FunctionDef, skipped: int) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Name, annotation and default of its arguments but for the first ones."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg:
        raise ValueError(f"{function.name} must name its arguments, got {ast.unparse(arguments)}.")
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + [*arguments.defaults]
    together: Iterable[tuple[ast.arg, ast.expr | None]] = [
        *list(zip(positional, defaults, strict=True))[skipped:],
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in together:
        yield argument.arg, argument.annotation, default


def _hyperparameter(
    name: str, annotation: ast.expr | None, default: ast.expr | None, legal: Mapping[str, Any]
) -> Hyperparameter:
    """A number, or true or false, with a default."""
    if default is None:
        taken = ", ".join((*GIVEN, *WITH_A_BATCH))
        raise ValueError(f"{name} must have a default, as a hyperparameter, or be one of {taken}, got neither.")
    value = _literal(f"the default of {name}", default)
    if strangers := [each for each in legal if each not in _RANGE]:
        raise ValueError(unknown(f"field of the range of {name}", strangers[0], _RANGE))
    found = Hyperparameter(default=_typed(name, value, annotation), **legal)
    found.check(f"the default of {name}", found.default)
    return found


def _typed(name: str, value: Any, annotation: ast.expr | None) -> Value:
    """A default in the type of its annotation; without one, in its own."""
    spelled = "" if annotation is None else str(getattr(annotation, "value", "")) or ast.unparse(annotation)
    kind = TYPES.get(spelled) if annotation is not None else type(value)
    if kind is None or kind not in TYPES.values():
        raise ValueError(f"{name} must be a float, an int or a bool, got {spelled or repr(value)}.")
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ValueError(f"the default of {name} must be of type {kind.__name__}, got {value!r}.")
    typed: Value = value  # type: ignore[assignment]  # of one of the three types
    return typed


def _literal(subject: str, node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(
            f"{subject} must be written out, as it is read and not run, got {ast.unparse(node)}."
        ) from None
