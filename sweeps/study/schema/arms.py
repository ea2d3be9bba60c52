"""The JSON schema of the arms of a study."""

from __future__ import annotations

from setsweep.losses import LOSSES
from setsweep.sweeps.study.rules import name_rule
from setsweep.sweeps.study.schema.settings import (
    Schema,
    keys_among,
    own_name,
    ref,
    row_names,
    searchable_schema,
    value_schema,
)
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import declared_settings

PATHS = {f"training.{path}": setting for path, setting in TRAINING.items()}
"""The settings of training as the keys of an arm and of the grid name them."""


def arm_definitions() -> dict[str, Schema]:
    """The arms, one arm, the names of losses, and the fields of each loss."""
    losses = {f"loss.{name}": _loss(name) for name in LOSSES}
    return {"arms": _arms(), "arm": _arm(), "loss": {"anyOf": [*row_names("loss"), own_name()]}, **losses}


def _arms() -> Schema:
    """A list of losses; or arms by name: one that a loss has means that loss, unless the arm says another.

    What hyperparameters a user's own loss has, only its text says.
    """
    losses = {"type": "array", "items": ref("loss"), "minItems": 1, "uniqueItems": True}
    arms = {
        name: {
            "description": loss.about,
            "allOf": [ref("arm"), {"if": {"required": ["loss"]}, "else": ref(f"loss.{name}")}],
        }
        for name, loss in LOSSES.items()
    }
    by_name = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": dict(name_rule("an arm's name").schema),
        "properties": arms,
        "additionalProperties": {"type": "object", "required": ["loss"], "allOf": [ref("arm")]},
    }
    return {"if": {"type": "array"}, "then": losses, "else": by_name}


def _arm() -> Schema:
    """What arms of all losses have: a loss, and settings of training; and the hyperparameters of a loss it names."""
    given = [
        {"if": {"required": ["loss"], "properties": {"loss": {"const": name}}}, "then": ref(f"loss.{name}")}
        for name in LOSSES
    ]
    return {
        "type": ["object", "null"],
        "properties": {"loss": ref("loss"), **{path: ref(path) for path in PATHS}},
        "propertyNames": keys_among("training", PATHS),
        "allOf": given,
    }


def _loss(name: str) -> Schema:
    """The hyperparameters of a loss, each fixed or searched; `k` is fixed."""
    settings = declared_settings("loss", {"name": name})
    fields = {key: (value_schema if key == "k" else searchable_schema)(each) for key, each in settings.items()}
    return {
        "properties": {"loss": True, **fields},
        "patternProperties": {r"^training\.": True},
        "additionalProperties": False,
    }
