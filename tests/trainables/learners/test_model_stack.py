"""Several models as one: their weights, their buffers, their scores."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from setsweep.trainables.config.sections import check_model
from setsweep.trainables.learners.model_stack import StackedNetwork, stack_models
from setsweep.trainables.models.classifier import Classifier, build_model

SHAPE = (1, 4, 4)

pytestmark = pytest.mark.usefixtures("own_models")


def _models(name: str, **settings: Any) -> list[Classifier]:
    complete = check_model({"name": name, **settings})
    return [build_model(complete, head="linear", input_shape=SHAPE, num_classes=7, seed=seed) for seed in range(3)]


@pytest.mark.parametrize("name", ["mlp", "small_cnn", "own_models:normed", "own_models:tied", "own_models:repeated"])
def test_a_stack_has_the_names_of_its_models_and_the_values_of_each(name: str) -> None:
    models = _models(name)
    stack = stack_models(models)
    assert list(stack.state_dict()) == list(models[0].state_dict())
    for number, model in enumerate(models):
        assert all(torch.equal(stack.state_dict()[key][number], value) for key, value in model.state_dict().items())
    assert [key for key, _ in stack.named_parameters()] == [key for key, _ in models[0].named_parameters()]
    assert all(parameter.is_leaf and parameter.requires_grad for parameter in stack.parameters())


def test_a_stack_shares_no_memory_with_its_models() -> None:
    models = _models("small_cnn", width=4)
    before = [{key: value.clone() for key, value in model.state_dict().items()} for model in models]
    stack = stack_models(models)
    with torch.no_grad():
        for value in stack.state_dict().values():
            value.zero_()
    for model, state in zip(models, before, strict=True):
        assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())


def test_a_weight_that_layers_share_is_one_in_the_stack_too() -> None:
    stack = stack_models(_models("own_models:tied"))
    _, first, second, _ = (layer for layer in stack.modules() if isinstance(layer, nn.Linear))
    assert first.weight is second.weight
    assert tuple(first.weight.shape) == (3, 4, 4)


@pytest.mark.parametrize("name", ["mlp", "small_cnn", "own_models:normed", "own_models:tied", "own_models:repeated"])
@pytest.mark.parametrize("training", [True, False])
def test_scores_statistics_and_gradients_are_those_of_each_model(name: str, training: bool) -> None:
    models = [model.train(training) for model in _models(name)]
    stack = stack_models(models)
    network = StackedNetwork(stack)
    inputs = [torch.randn(6, *SHAPE, generator=torch.Generator().manual_seed(seed)) for seed in range(3)]
    scores = network(network.stack(inputs))
    assert isinstance(scores, torch.Tensor)
    scores.square().sum().backward()
    for number, (model, each) in enumerate(zip(models, inputs, strict=True)):
        alone = model(each)
        torch.testing.assert_close(scores[number], alone, rtol=1e-4, atol=1e-5)
        alone.square().sum().backward()
        gradients = {key: weight.grad for key, weight in model.named_parameters() if weight.grad is not None}
        assert gradients.keys() == dict(model.named_parameters()).keys()
        # Of the largest gradient of the model: a bias before a normalisation has the gradient zero, and rounding alone.
        scale = max(float(gradient.abs().max()) for gradient in gradients.values())
        for key, expected in gradients.items():
            gradient = stack.get_parameter(key).grad
            assert gradient is not None
            torch.testing.assert_close(gradient[number], expected, rtol=0, atol=1e-5 * scale)
        for key, buffer in model.named_buffers():
            torch.testing.assert_close(stack.get_buffer(key)[number], buffer)


def test_a_network_follows_the_weights_that_its_stack_is_given() -> None:
    models, others = _models("mlp"), _models("mlp", bias=True)[::-1]
    stack = stack_models(models)
    network, inputs = StackedNetwork(stack), torch.randn(3, 5, *SHAPE)
    stack.load_state_dict(stack_models(others).state_dict())
    scores = network(inputs)
    assert isinstance(scores, torch.Tensor)
    for number, model in enumerate(others):
        torch.testing.assert_close(scores[number], model(inputs[number]))


@pytest.mark.parametrize("name", ["mlp", "small_cnn"])
def test_inputs_that_seeds_share_are_stacked_without_a_copy(name: str) -> None:
    network = StackedNetwork(stack_models(_models(name)))
    shared, own = torch.randn(5, *SHAPE), [torch.randn(5, *SHAPE) for _ in range(3)]
    assert network.stack([shared] * 3).untyped_storage().data_ptr() == shared.untyped_storage().data_ptr()
    assert torch.equal(network.stack([shared] * 3), torch.stack([shared] * 3))
    assert torch.equal(network.stack(own).flatten(2), torch.stack(own).flatten(2))


def test_random_numbers_are_refused() -> None:
    network = StackedNetwork(stack_models(_models("own_models:with_dropout")))
    with pytest.raises(RuntimeError, match="randomness"):
        network(torch.randn(3, 5, *SHAPE))
