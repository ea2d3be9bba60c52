"""Which learner a run gets, and what no seed group is."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from setsweep.trainables.learners.build import build_learner
from setsweep.trainables.learners.round_robin import RoundRobinLearner
from setsweep.trainables.learners.solo import SoloLearner
from setsweep.trainables.learners.stacked import StackedLearner

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("seeds", "changes", "kind"),
    [
        (1, {}, SoloLearner),
        (1, {"model": {"name": "own_models:with_dropout"}}, SoloLearner),
        (2, {}, StackedLearner),
        (2, {"model": {"name": "own_models:normed"}}, StackedLearner),
        (2, {"model": {"name": "own_models:with_dropout"}}, RoundRobinLearner),
        (2, {"training": {"compile": True}}, RoundRobinLearner),
    ],
)
@pytest.mark.usefixtures("own_models")
def test_a_seed_learns_alone_and_a_group_as_one_model_where_that_can_be(
    seeds: int, changes: dict[str, Any], kind: type, seed_group: Any
) -> None:
    assert type(build_learner(*seed_group(seeds, **changes), CPU)) is kind


def test_configurations_that_differ_in_more_than_the_seed_are_no_group(make_config: Any, seed_group: Any) -> None:
    (config, _), datasets = seed_group(2)
    other = make_config(seed=5, training={"epochs": 5})
    with pytest.raises(ValueError, match=r"^configurations of a seed group must be equal but for the seed, got others"):
        build_learner([config, other], datasets, CPU)


def test_data_of_other_sizes_are_no_group(seed_group: Any) -> None:
    configs, datasets = seed_group(2)
    _, larger = seed_group(1, data={"name": "circle", "per_class": 17})
    with pytest.raises(ValueError, match=r"^data sets of a seed group must be of one size, got .*\(96,.*\(102,"):
        build_learner(configs, [datasets[0], larger[0]], CPU)
