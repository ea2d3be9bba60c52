"""Seeds that take turns give, to the last bit, what each of them gives by itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from setsweep.data.seeding import derived_seed
from setsweep.trainables.device import seeded
from setsweep.trainables.learners.round_robin import RoundRobinLearner
from setsweep.trainables.learners.solo import SoloLearner

CPU = torch.device("cpu")

pytestmark = pytest.mark.usefixtures("own_models")


@pytest.mark.parametrize("model", ["with_dropout", "branching"])
@pytest.mark.parametrize("loss", ["cross_entropy", "noised_topk_hinge", "role"])
def test_each_seed_learns_what_it_learns_alone(loss: str, model: str, seed_group: Any, trained: Any) -> None:
    configs, datasets = seed_group(3, loss={"name": loss}, k=2, model={"name": f"own_models:{model}"})
    together = RoundRobinLearner(configs, datasets, CPU)
    losses = trained(together, configs, datasets, 5)
    for seed, (config, dataset) in enumerate(zip(configs, datasets, strict=True)):
        with seeded(derived_seed(config.seed, "model"), CPU):  # as a run by itself does
            alone = SoloLearner(config, dataset, CPU)
            assert torch.equal(trained(alone, [config], [dataset], 5), losses[:, [seed]])
        assert all(torch.equal(value, together.weights(seed)[name]) for name, value in alone.weights(0).items())


def test_turns_leave_the_global_generator_as_it_was(seed_group: Any, trained: Any) -> None:
    configs, datasets = seed_group(2, model={"name": "own_models:with_dropout"})
    before = torch.get_rng_state()
    trained(RoundRobinLearner(configs, datasets, CPU), configs, datasets, 2)
    assert torch.equal(torch.get_rng_state(), before)
