"""What every learner promises, of one seed or of a seed group."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from setsweep.trainables.learners.build import build_learner
from setsweep.trainables.learners.learner import Learner
from setsweep.trainables.learners.round_robin import RoundRobinLearner
from setsweep.trainables.learners.solo import SoloLearner
from setsweep.trainables.learners.stacked import StackedLearner

CPU = torch.device("cpu")
ADAMW = {"optimizer": {"name": "adamw", "lr": 0.05}}
LEARNERS: dict[str, tuple[type, int, dict[str, Any]]] = {
    "solo": (SoloLearner, 1, {"model": {"name": "own_models:with_dropout"}}),
    "solo, averaged": (SoloLearner, 1, {"loss": {"name": "avgk"}, "training": ADAMW | {"ema": 0.8}}),
    "solo, estimated labels": (SoloLearner, 1, {"loss": {"name": "role"}, "training": ADAMW}),
    "stacked": (StackedLearner, 3, {"model": {"name": "mlp", "hidden": 8}, "loss": {"name": "noised_topk_hinge"}}),
    "stacked, averaged": (StackedLearner, 3, {"loss": {"name": "avgk"}, "training": ADAMW | {"ema": 0.8}}),
    "stacked, estimated labels": (StackedLearner, 3, {"loss": {"name": "role"}, "training": ADAMW}),
    "stacked by vmap": (StackedLearner, 3, {"model": {"name": "own_models:normed"}}),
    "round robin": (RoundRobinLearner, 3, {"model": {"name": "own_models:with_dropout"}, "training": ADAMW}),
}

pytestmark = [pytest.mark.parametrize("name", LEARNERS), pytest.mark.usefixtures("own_models")]


@pytest.fixture
def begun(name: str, seed_group: Any, trained: Any) -> Any:
    """A function that trains: ``begun(2)`` gives a learner after two steps, its group and what they lost."""
    kind, seeds, changes = LEARNERS[name]

    def begin(steps: int) -> tuple[Learner, Any, torch.Tensor]:
        torch.manual_seed(0)
        group = seed_group(seeds, k=2, **copy.deepcopy(changes))
        learner = build_learner(*group, CPU)
        assert type(learner) is kind
        return learner, group, trained(learner, *group, steps)

    return begin


def _inputs(group: Any) -> list[torch.Tensor]:
    return [dataset.val.inputs.float() for dataset in group[1]]


def _scores(learner: Learner, group: Any) -> list[torch.Tensor]:
    with torch.no_grad():
        return [each.clone() for each in learner.scores(_inputs(group))]


def test_each_seed_has_its_own_loss_weights_and_scores(begun: Any) -> None:
    learner, group, losses = begun(2)
    seeds = len(group[0])
    assert losses.shape == (2, seeds)
    scores = _scores(learner, group)
    assert [tuple(each.shape) for each in scores] == [(len(data.val), data.num_classes) for data in group[1]]
    heads = [learner.weights(seed) for seed in range(seeds)]
    for one in range(seeds):
        for other in range(one):
            assert losses[0, one] != losses[0, other]
            assert not all(torch.equal(heads[one][name], heads[other][name]) for name in heads[one])


def test_weights_put_back_give_the_scores_that_they_gave(begun: Any) -> None:
    learner, group, _ = begun(2)
    before, weights = _scores(learner, group), [learner.weights(seed) for seed in range(len(group[0]))]
    moved, _, _ = begun(7)
    assert not any(map(torch.equal, _scores(moved, group), before))
    moved.load_weights(weights)
    assert all(map(torch.equal, _scores(moved, group), before))


def test_a_copy_of_the_weights_does_not_follow_the_training(begun: Any, trained: Any) -> None:
    learner, group, _ = begun(1)
    weights = learner.weights(0)
    before = copy.deepcopy(weights)
    trained(learner, *group, 3)
    assert all(torch.equal(weights[name], before[name]) for name in weights)
    assert not all(torch.equal(learner.weights(0)[name], before[name]) for name in before)


def test_a_restored_learner_goes_on_to_the_last_bit_where_the_saved_one_was(begun: Any, trained: Any) -> None:
    saved, group, _ = begun(4)
    state, chance = copy.deepcopy(saved.state()), torch.get_rng_state()
    expected = trained(saved, *group, 5)
    restored, _, _ = begun(1)
    restored.restore(state)
    torch.set_rng_state(chance)
    assert torch.equal(trained(restored, *group, 5), expected)
    assert all(map(torch.equal, _scores(restored, group), _scores(saved, group)))


def test_weights_that_are_not_finite_are_told_of_the_seed_whose_they_are(begun: Any) -> None:
    learner, group, _ = begun(1)
    seeds = len(group[0])
    assert learner.finite() == [True] * seeds
    weights = [learner.weights(seed) for seed in range(seeds)]
    weights[-1]["head.weight" if "head.weight" in weights[-1] else "head.ml.weight"][0, 0] = torch.inf
    learner.load_weights(weights)
    averaged = group[0][0].training.ema  # whose weights are not those that learn
    assert learner.finite() == [True] * (seeds - 1) + [bool(averaged)]
