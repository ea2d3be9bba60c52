"""Which models can be stacked, and why others can't."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from setsweep.trainables.learners.stackable import why_not_stackable
from setsweep.trainables.models.table import MODELS

CPU = torch.device("cpu")
HEAVY = ("densenet121", "densenet169", "resnet34", "resnet50", "vit_b_16")  # of the layers of the others, and more

pytestmark = pytest.mark.usefixtures("own_models")


def _reason(seed_group: Any, **changes: Any) -> str | None:
    (config,), (dataset,) = seed_group(1, **changes)
    return why_not_stackable(config, dataset, CPU)


@pytest.mark.parametrize("name", ["own_models:normed", "own_models:repeated", "own_models:tied"])
def test_models_of_ones_own_are_tried(name: str, seed_group: Any) -> None:
    assert _reason(seed_group, model={"name": name}) is None


@pytest.mark.parametrize("name", sorted(MODELS.keys() - HEAVY))
def test_the_bundled_models_can_be_stacked(name: str, seed_group: Any) -> None:
    light = {"depth": 10, "growth": 4} if name == "densenet" else {}
    assert _reason(seed_group, data={"name": "digits"}, model={"name": name, **light}) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": {"name": "own_models:with_dropout"}}, "the model does not run under torch.func.vmap: .*randomness"),
        ({"model": {"name": "own_models:branching"}}, "the model does not run under torch.func.vmap: .*control flow"),
        ({"model": {"name": "own_models:shifted"}}, "the model's scores under torch.func.vmap are not those that it"),
        ({"training": {"compile": True}}, "training.compile is for one model at a time."),
    ],
)
def test_what_can_not_be_stacked_has_its_reason(changes: dict[str, Any], reason: str, seed_group: Any) -> None:
    assert re.match(reason, _reason(seed_group, **changes) or "it can", re.DOTALL)


def test_the_trial_leaves_the_global_generator_as_it_was(seed_group: Any) -> None:
    before = torch.get_rng_state()
    _reason(seed_group, model={"name": "own_models:with_dropout"})
    assert torch.equal(torch.get_rng_state(), before)
