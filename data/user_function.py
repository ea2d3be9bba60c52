"""A user's own function, named ``package.module:function`` in a study: for data, for models and for losses."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

FORM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_own(name: object) -> bool:
    """Whether a name means a function of the user's and not a row of a table."""
    return isinstance(name, str) and ":" in name


def is_plain(value: object) -> bool:
    """Whether a setting is data that JSON keeps as they are: it goes into the run key and to other machines."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False


def own_function(name: str, section: str, arguments: Sequence[Any], settings: Mapping[str, Any]) -> Callable[[], Any]:
    """The function of that name with its arguments, still to be called.

    Args:
        name: where it is; its module is imported.
        section: of the study, for messages.
        arguments, settings: what it will be called with.

    Raises:
        ValueError: see `find_function`; or it doesn't take these arguments.
    """
    function = find_function(name, section)
    try:
        inspect.signature(function).bind(*arguments, **settings)
    except TypeError as error:
        raise ValueError(f"{section}: {name} {error}.") from None
    return lambda: function(*arguments, **settings)


def find_function(name: str, section: str) -> Callable[..., Any]:
    """The function of that name, imported.

    Raises:
        ValueError: it can't be imported, there is none of that name, or it is another package's.
    """
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # a module can raise anything
        raise ValueError(f"{section}.name: {module_name} can't be imported: {type(error).__name__}: {error}") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise ValueError(  # noqa: TRY004 - the name is wrong
            f"{section}.name must name a function, got {name!r}; {module_name} has none of that name."
        )
    home = str(getattr(function, "__module__", None)).partition(".")[0]
    if home != module_name.partition(".")[0]:
        rule = f"must name a function that {module_name} defines, got {name!r}, which is of {home}."
        raise ValueError(f"{section}.name {rule}")
    found: Callable[..., Any] = function
    return found


def source_of(module: str) -> str | None:
    """The text of a module, found where Python would find it and not imported; None: there is none that is text."""
    places: Sequence[str] | None = None
    spec = None
    for depth in range(module.count(".") + 1):
        spec = PathFinder.find_spec(".".join(module.split(".")[: depth + 1]), places)
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or ())
    if spec is None or not spec.has_location or not str(spec.origin).endswith(".py"):
        return None
    try:
        return Path(str(spec.origin)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
