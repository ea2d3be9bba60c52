"""From a study to the configuration of one run: an arm, a grid point, values for what is searched, a seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from setsweep.sweeps.study.design.addresses import point_for
from setsweep.sweeps.study.study import Arm, Point, Study
from setsweep.trainables.config.complete import with_values
from setsweep.trainables.config.sections import declared_settings

DATA_NAME = "data.name"
NAMES = (DATA_NAME, "model.name")


def section_named(section: str, values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The `data` or `model` section of a study with another name: what differs from the defaults is taken along.

    Args:
        section: "data" or "model".
        values: of the study, complete.
        name: of the data set or model.
    """
    if name == values["name"]:
        return dict(values)
    known = declared_settings(section, values)
    given = {key: value for key, value in values.items() if key not in known or value != known[key].default}
    return {**given, "name": name}


def plain_config(
    study: Study, arm: Arm, point: Point, values: Mapping[str, Any], *, seed: int, test: bool
) -> dict[str, Any]:
    """The configuration as plain data, for `trainables.config.complete.complete_config`.

    Args:
        study: gives data, model, training and k.
        arm: gives the loss and its fixed values.
        point: a point of the grid.
        values: by path, for what the arm searches.
        seed: of the run.
        test: whether the run may look at the test split.
    """
    plain: dict[str, Any] = {
        "data": section_named("data", study.data, point.get("data.name", study.data["name"])),
        "model": section_named("model", study.model, point.get("model.name", study.model["name"])),
        "loss": {"name": arm.loss},
        "training": dict(study.training),
        "k": list(study.k),
        "seed": seed,
        "test": test,
        **(_conformal(study) if test else {}),
        "metrics": list(study.metrics),
    }
    return with_values(plain, {**arm.fixed, **point_for(point, arm), **values})


def _conformal(study: Study) -> dict[str, Any]:
    """Which conformal sets a run is measured by on test; nothing where the study asks for none."""
    if not study.coverage:
        return {}
    return {"coverage": list(study.coverage), "conformal": dataclasses.asdict(study.conformal)}
