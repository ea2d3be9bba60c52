"""The JSON schema of study files, for editors: names, ranges, defaults and descriptions are those of the declared rows.

It is draft 2020-12 in words that draft 7 has too, since older language servers know no others: so a mapping whose
fields depend on a name gets them by if and then, each time all of them, and refuses others there. What rules several
fields together (milestones below the epochs, low < high, k below the number of classes) only reading the study tells;
and a number spelled as text, which reading a study takes for the number, is an error here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from setsweep.sweeps.study.budget import BUDGET
from setsweep.sweeps.study.comparing import compare_settings
from setsweep.sweeps.study.design.axes import VALUES
from setsweep.sweeps.study.design.configuration import NAMES
from setsweep.sweeps.study.design.sensitivity import SENSITIVITY
from setsweep.sweeps.study.fields import SIZES
from setsweep.sweeps.study.protocol import (
    KEEP,
    PRUNER,
    RACE,
    RESOURCES,
    confirm_settings,
    search_settings,
)
from setsweep.sweeps.study.published import published_settings
from setsweep.sweeps.study.reader import ABOUT, DATA_FILES, NAME, OWN_METRICS, REQUIRED
from setsweep.sweeps.study.scale import LEAVES_OUT, REPLACEABLE, REPRODUCES, SCALE
from setsweep.sweeps.study.schema.arms import PATHS, arm_definitions
from setsweep.sweeps.study.schema.settings import (
    Schema,
    description,
    fields_schema,
    keys_among,
    own_name,
    ref,
    row_names,
    searchable_schema,
    space_definitions,
    value_schema,
    values_schema,
)
from setsweep.sweeps.study.training import KEEP_LR, KEEP_LR_PER_EXAMPLE
from setsweep.trainables.config.coverage import COVERAGE
from setsweep.trainables.config.presets import PRESETS
from setsweep.trainables.config.run_config import SECTIONS, TRAINING
from setsweep.trainables.config.sections import TABLES, declared_settings
from setsweep.trainables.config.training import PRESET, nest
from setsweep.trainables.conformal.how import CONFORMAL
from setsweep.trainables.settings.rules import listed
from setsweep.trainables.settings.setting import Setting

_NAMED = ("data", "model")  # sections of a study that name a row of a table, or a function of the user's
_OWN = "package.module:function"  # as messages call it


def study_schema() -> Schema:
    """What an editor, or any validator of JSON schemas, needs to know of a study file."""
    sections = {
        "study": value_schema(NAME),
        "about": value_schema(ABOUT),
        "data": _about("the data set and its settings", ref("data")),
        "model": _about("the network and its settings", ref("model")),
        "training": _about("how every run trains", ref("training")),
        "k": _set_sizes(),
        "metrics": value_schema(OWN_METRICS),
        "arms": _about("what is compared: losses with fixed and searched values", ref("arms")),
        "grid": _about("values at whose every combination every arm is run", ref("grid")),
        "search": _about("how hyperparameters are chosen, on validation", _search()),
        "confirm": _about("how the chosen ones are reported, on test", _section(confirm_settings())),
        "sensitivity": _about("how results depend on hyperparameters, each varied", _sensitivity()),
        "coverage": value_schema(COVERAGE),
        "conformal": _about("how conformal sets are made", _section(CONFORMAL)),
        "compare": _about("which differences are tested", _section(compare_settings(None, ()))),
        "keep": _about("what is kept of runs beside their results", _section(KEEP)),
        "resources": _about("what a run occupies", _section(RESOURCES)),
        "published": _about("numbers of papers to hold the study's against", _published()),
        "budget": _about("what the study may take at most", _section(BUDGET)),
        "reproduces": value_schema(REPRODUCES),
        "leaves_out": value_schema(LEAVES_OUT),
        "scale": value_schema(SCALE),
    }
    sections["small"] = _about("what stands in the place of these at scale small", _small())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        **fields_schema(sections),
        "required": list(REQUIRED),
        "allOf": [_grid_of(section, name) for section in _NAMED for name in (*TABLES[section], _OWN)],
        "$defs": _definitions(),
    }


def _definitions() -> Schema:
    """What is referred to, by name; a row of a table is ``SECTION.ROW``."""
    found = {section: _named_section(section) for section in _NAMED}
    for section in _NAMED:
        found |= {f"{section}.{name}": _row(section, name) for name in (*TABLES[section], _OWN)}
        found |= {f"{section}.each.{key}": _setting(setting) for key, setting in _shared(section).items()}
        found |= {f"grid.{section}.{name}": _grid_row(section, name) for name in (*TABLES[section], _OWN)}
    found |= {path: searchable_schema(setting) for path, setting in PATHS.items()}
    return found | arm_definitions() | space_definitions() | {"training": _training(), "grid": _grid()}


def _names(section: str) -> list[Schema]:
    """What the name of a section may be."""
    return [*row_names(section), own_name()]


def _named_section(section: str) -> Schema:
    """A mapping whose name says which other fields it has."""
    return {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"anyOf": _names(section)}},
        "allOf": [
            {"if": _has_name(section, name), "then": ref(f"{section}.{name}")} for name in (*TABLES[section], _OWN)
        ],
    }


def _row(section: str, name: str) -> Schema:
    """The fields of a section that has that name; a user's function takes any."""
    own = declared_settings(section, {"name": name})
    besides = {key: value_schema(setting) for key, setting in _besides(section).items()}
    shared = _shared(section)
    given = {key: ref(f"{section}.each.{key}") if key in shared else _setting(own[key]) for key in own}
    fields = {"name": True, **given, **besides}
    return {"properties": fields} if name == _OWN else fields_schema(fields)


@cache
def _shared(section: str) -> dict[str, Setting]:
    """The settings that several rows of a table have, all with the same rule, default and description."""
    found: dict[str, list[Setting]] = {}
    for name in TABLES[section]:
        for key, setting in declared_settings(section, {"name": name}).items():
            found.setdefault(key, []).append(setting)
    alike = {key: {json.dumps(_setting(each), sort_keys=True) for each in rows} for key, rows in found.items()}
    return {key: rows[0] for key, rows in found.items() if len(rows) > 1 and len(alike[key]) == 1}


def _setting(setting: Setting) -> Schema:
    """A fixed value; or a search space, but of what decides what is measured."""
    return value_schema(setting) if setting.decides_task else searchable_schema(setting)


def _besides(section: str) -> Mapping[str, Setting]:
    """What the section may hold that is no setting of what it names."""
    return DATA_FILES if section == "data" else {}


def _has_name(section: str, name: str) -> Schema:
    """Whether a section names that row; any text with a colon means a function of the user's."""
    meant = {"type": "string", "pattern": ":"} if name == _OWN else {"const": name}
    return {"type": "object", "required": ["name"], "properties": {"name": meant}}


def _training() -> Schema:
    """Settings, those of sections by section, each fixed or searched; and what fills in or scales some."""
    given = nest({path: ref(f"training.{path}") for path in TRAINING})
    sections = {name: _mapping(given[name]) for name in SECTIONS}
    presets = [{"const": name, "description": preset.paper} for name, preset in PRESETS.items()]
    preset = {"description": "a paper's schedule, for what is left out", "anyOf": [*presets, {"type": "null"}]}
    return _mapping({**given, **sections, PRESET: preset, KEEP_LR: value_schema(KEEP_LR_PER_EXAMPLE)})


def _set_sizes() -> Schema:
    """One or some, told apart as a value and a search space are."""
    some = {**listed(SIZES.rule, ascending=True).schema, "minItems": 1}
    return _about(description(SIZES), {"if": {"type": "array"}, "then": some, "else": dict(SIZES.rule.schema)})


def _grid() -> Schema:
    """What the grid of any study has; of data and model see `_grid_row`."""
    return {
        "type": ["object", "null"],
        "properties": {path: values_schema(setting) for path, setting in PATHS.items()},
        "patternProperties": {
            rf"^{section}\.": {"type": "array", "minItems": 1} for section in (*_NAMED, r"(?!training\.)[^.]+")
        },
        "additionalProperties": False,
    }


def _grid_row(section: str, name: str) -> Schema:
    """The fields of `grid` for the data or the model of that name; those of a user's function can't be known."""
    settings = declared_settings(section, {"name": name})
    fields = {f"{section}.{key}": values_schema(setting) for key, setting in settings.items()}
    names = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"anyOf": _names(section)}}
    fields |= {path: names for path in NAMES if path == f"{section}.name"}
    if name == _OWN:
        not_settings = [f"{section}.{key}" for key in ("name", *_besides(section)) if f"{section}.{key}" not in fields]
        return {"properties": fields, "propertyNames": {"not": {"enum": not_settings}}}
    return {"properties": fields, "propertyNames": keys_among(section, fields)}


def _grid_of(section: str, name: str) -> Schema:
    """In a study whose data or model has that name, the grid has its fields."""
    named = {"required": [section], "properties": {section: _has_name(section, name)}}
    return {"if": named, "then": {"properties": {"grid": ref(f"grid.{section}.{name}")}}}


def _search() -> Schema:
    race = _about("who is ahead on few seeds is trained with more", _section(RACE))
    pruner = _mapping({**_values(PRUNER)}) | {"required": ["name"]}
    by_name = {
        "if": {"type": "object"},
        "then": pruner,
        "else": {"anyOf": [value_schema(PRUNER["name"]), {"type": "null"}]},
    }
    stops = _about("how trials that are behind are stopped", by_name)
    return _mapping({**_values(search_settings(())), "race": race, "pruner": stops})


def _sensitivity() -> Schema:
    """Settings, and what is varied by its path: of data, model, training, of all losses that have it, or of an arm."""
    own = {path: _varied(setting) for path, setting in PATHS.items()}
    section = _mapping({**_values(SENSITIVITY), **own})
    names = "|".join(rf"{section}\.name$" for section in _NAMED)
    return {**section, "patternProperties": {rf"^(?!training\.|{names})[^.]+\..": _varied(VALUES)}}


def _small() -> Schema:
    """Fields of a study that stand in the place of its own, whole."""
    fields = fields_schema({name: {"$ref": f"#/properties/{name}"} for name in REPLACEABLE})
    return {"type": ["object", "null"], **fields, "required": ["leaves_out"]}


def _published() -> Schema:
    entry = {
        "type": "object",
        **fields_schema(_values(published_settings(()))),
        "required": ["where", "metric", "values"],
    }
    return {"type": ["array", "null"], "items": entry}


def _varied(setting: Setting) -> Schema:
    """A number of values on the declared scale, or a list of them."""
    items = {} if setting is VALUES else {"items": dict(setting.rule.schema)}
    listed_ = {"type": "array", **items, "minItems": 2, "uniqueItems": True}
    return {
        "description": description(setting),
        "if": {"type": "array"},
        "then": listed_,
        "else": dict(VALUES.rule.schema),
    }


def _section(settings: Mapping[str, Setting]) -> Schema:
    return _mapping(_values(settings))


def _values(settings: Mapping[str, Setting]) -> dict[str, Schema]:
    return {name: value_schema(setting) for name, setting in settings.items()}


def _mapping(fields: Mapping[str, Schema]) -> Schema:
    """One that may be left empty."""
    return {"type": ["object", "null"], **fields_schema(fields)}


def _about(about: str, schema: Schema) -> Schema:
    return {"description": about, **schema}
