"""The JSON schema of one setting, its rule, its default, what it does and how a study may search it; and of names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from setsweep.data.user_function import FORM
from setsweep.sweeps.study.space import KINDS_OF_TYPE, Kind
from setsweep.trainables.config.sections import TABLES
from setsweep.trainables.settings.setting import Setting

Schema = dict[str, Any]


def value_schema(setting: Setting) -> Schema:
    """A fixed value."""
    return {**_annotations(setting), **setting.rule.schema}


def searchable_schema(setting: Setting) -> Schema:
    """A fixed value, or a search space: a mapping, or ``default_space``; a list can't be searched.

    Which of the two is meant is told by whether it is a mapping, so that an editor says what is wrong with that one.
    """
    value = dict(setting.rule.schema)
    if value.get("type") == "array":
        return value_schema(setting)
    fixed = value if setting.search is None else {"anyOf": [value, {"const": "default_space"}]}
    space = {
        "allOf": [ref(f"space.{setting.rule.type}")],
        "properties": {"default": value},
        "additionalProperties": {"items": value},
    }
    return {**_annotations(setting), **_examples(setting), "if": {"type": "object"}, "then": space, "else": fixed}


def space_definitions() -> dict[str, Schema]:
    """What all search spaces of a type of value have in common: one kind with its ends or choices, perhaps a default.

    That low < high a schema can't say.
    """
    one, two = ({"minProperties": fields, "maxProperties": fields} for fields in (1, 2))
    count = {"if": {"required": ["default"]}, "then": two, "else": one}
    default = {"default": {"description": "the value that is tried first"}}
    return {
        f"space.{type_}": {**fields_schema({kind: _kind_schema(kind) for kind in kinds} | default), **count}
        for type_, kinds in KINDS_OF_TYPE.items()
    }


def values_schema(setting: Setting) -> Schema:
    """A list of distinct fixed values, as in a grid."""
    return {
        "description": description(setting),
        "type": "array",
        "items": dict(setting.rule.schema),
        "minItems": 1,
        "uniqueItems": True,
    }


def fields_schema(fields: Mapping[str, Any]) -> Schema:
    """Fields with a schema each, and no other ones."""
    return {"properties": dict(fields), "additionalProperties": False}


def ref(name: str) -> Schema:
    """What is defined under that name."""
    return {"$ref": f"#/$defs/{name}"}


def row_names(section: str) -> list[Schema]:
    """The names of a table's rows, as alternatives that say what each is."""
    return [{"const": name, "description": row.about} for name, row in TABLES[section].items()]


def own_name() -> Schema:
    """The name of a function of the user's."""
    return {"type": "string", "pattern": f"^{FORM.pattern}$", "description": "a function of your own"}


def keys_among(section: str, keys: Iterable[str]) -> Schema:
    """Of a mapping's keys, those that begin with the section must be among some."""
    return {"if": {"pattern": rf"^{section}\."}, "then": {"enum": [*keys]}}


def description(setting: Setting) -> str:
    """``learning rate (a number > 0; default 0.1)``: what an editor shows beside the name."""
    facts = [setting.rule.words]
    if setting.unit:
        facts.append(f"in {setting.unit}")
    if _can_be_given(setting):
        facts.append(f"default {_spelled(setting.default)}")
    if setting.search is not None:
        facts.append(f"default_space {_spelled(setting.search)}")
    return f"{setting.about} ({'; '.join(facts)})"


def _annotations(setting: Setting) -> Schema:
    default = {"default": _plain(setting.default)} if _can_be_given(setting) else {}
    return {"description": description(setting), **default}


def _can_be_given(setting: Setting) -> bool:
    """Whether the default is a value: one that follows from the rest of a study is declared as None or as illegal."""
    try:
        return setting.default is not None and setting.check(setting.default) is not None
    except ValueError:
        return False


def _examples(setting: Setting) -> Schema:
    """The names that an editor may propose; it finds none within if and else by itself."""
    rule = setting.rule.schema
    names = [True, False] if rule.get("type") == "boolean" else rule.get("enum", [])
    own = [] if setting.search is None else ["default_space"]
    return {"examples": [*names, *own]} if names or own else {}


def _kind_schema(kind: Kind) -> Schema:
    if kind == "choice":
        return {"description": "one of these values", "type": "array", "minItems": 1, "uniqueItems": True}
    log, whole = kind.startswith("log"), kind in ("int", "log_int")
    end = {"type": "integer" if whole else "number", **({"exclusiveMinimum": 0} if log else {})}
    about = f"[low, high], both included{', whole numbers' if whole else ''}{', on a log scale' if log else ''}"
    return {"description": about, "type": "array", "items": end, "minItems": 2, "maxItems": 2, "uniqueItems": True}


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
