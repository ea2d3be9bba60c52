"""Models and heads: what goes in, what comes out, and where the first weights come from."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from setsweep.losses.declaration import Head
from setsweep.trainables.config.sections import check_model
from setsweep.trainables.models.classifier import build_model
from setsweep.trainables.models.table import MODELS

SHAPES = {"vectors": (5,), "gray images": (1, 8, 8), "colour images": (3, 9, 12)}
CASES = [
    (model, head, shape)
    for model, head, shape in itertools.product(MODELS, get_args(Head), SHAPES)
    if not MODELS[model].images_only or shape == "gray images" or (model, shape) == ("small_cnn", "colour images")
]
IMAGE_MODELS = [name for name, declaration in MODELS.items() if declaration.images_only]
LIGHT: dict[str, dict[str, Any]] = {  # the same code on fewer weights
    "vit_b_16": {"layers": 1},
    "densenet": {"depth": 10, "growth": 4},
}


def _build(
    name: str, head: Head = "linear", shape: tuple[int, ...] = (3, 8, 8), seed: int = 0, **settings: Any
) -> nn.Module:
    settings = LIGHT.get(name, {}) | settings
    return build_model(check_model({"name": name, **settings}), head=head, input_shape=shape, num_classes=7, seed=seed)


@pytest.mark.parametrize(("model", "head", "shape"), CASES)
def test_scores_are_batch_by_classes(model: str, head: Head, shape: str) -> None:
    scores = _build(model, head, SHAPES[shape])(torch.randn(4, *SHAPES[shape]))
    if head == "two_head":
        assert isinstance(scores, tuple)
        assert [tuple(each.shape) for each in scores] == [(4, 7), (4, 7)]
    else:
        assert scores.shape == (4, 7)


@pytest.mark.parametrize(("model", "head", "shape"), CASES)
def test_every_parameter_learns_and_no_input_is_changed(model: str, head: Head, shape: str) -> None:
    network, inputs = _build(model, head, SHAPES[shape]), torch.randn(4, *SHAPES[shape])
    before = inputs.clone()
    scores = network(inputs)
    loss: torch.Tensor = (
        sum(each.square().sum() for each in scores) if isinstance(scores, tuple) else scores.square().sum()
    )
    loss.backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in network.parameters())
    assert torch.equal(inputs, before)


@pytest.mark.parametrize(
    ("model", "head"),
    [*itertools.product(MODELS, ["linear"]), *itertools.product(["mlp"], set(get_args(Head)) - {"linear"})],
)
def test_the_seed_alone_decides_the_first_weights(model: str, head: Head) -> None:
    torch.manual_seed(1)
    one = _build(model, head, seed=5).state_dict()
    torch.manual_seed(2)
    same, other = _build(model, head, seed=5).state_dict(), _build(model, head, seed=6).state_dict()
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("model", MODELS)
def test_building_leaves_the_global_generator_as_it_was(model: str) -> None:
    before = torch.get_rng_state()
    _build(model)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("model", MODELS)
def test_weights_saved_are_the_weights_loaded(model: str) -> None:
    one, other, inputs = _build(model), _build(model, seed=1), torch.randn(2, 3, 8, 8)
    other.load_state_dict(one.state_dict())
    assert torch.equal(one.eval()(inputs), other.eval()(inputs))


@pytest.mark.parametrize("model", MODELS)
def test_evaluation_takes_one_example_at_a_time_and_leaves_the_model_as_it_was(model: str) -> None:
    network, inputs = _build(model).eval(), torch.randn(3, 3, 8, 8)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    scores = network(inputs)
    assert torch.allclose(torch.cat([network(each[None]) for each in inputs]), scores, atol=1e-4)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


@pytest.mark.parametrize("shape", [(3, 32, 32), (3, 64, 64), (1, 28, 28)], ids=str)
@pytest.mark.parametrize("model", IMAGE_MODELS)
def test_image_models_take_the_sizes_of_the_data_sets(model: str, shape: tuple[int, ...]) -> None:
    with torch.inference_mode():
        assert _build(model, shape=shape).eval()(torch.randn(1, *shape)).shape == (1, 7)


@pytest.mark.parametrize("model", IMAGE_MODELS)
def test_half_precision_and_the_layout_of_pixels_change_no_more_than_the_rounding(model: str) -> None:
    network, images = _build(model, shape=(3, 16, 16)).eval(), torch.randn(2, 3, 16, 16)
    with torch.inference_mode():
        scores = network(images)
        with torch.autocast("cpu", torch.bfloat16):
            half = network(images)
        other_layout = network.to(memory_format=torch.channels_last)(images.to(memory_format=torch.channels_last))
    assert torch.allclose(other_layout, scores, atol=1e-4)
    assert half.dtype == torch.bfloat16
    assert (half - scores).norm() < 0.05 * scores.norm()  # 8 bits of precision, some dozens of layers


@pytest.mark.parametrize("model", ["linear", "mlp", "small_cnn", "densenet_40_40", "resnet18"])
def test_models_of_several_seeds_train_together(model: str) -> None:
    networks = [_build(model, seed=seed) for seed in (1, 2)]
    parameters, buffers = stack_module_state(networks)
    inputs = torch.randn(2, 4, 3, 8, 8)

    def scores(weights: dict[str, Any], state: dict[str, Any], batch: torch.Tensor) -> Any:
        return functional_call(networks[0], (weights, state), (batch,))

    together = vmap(scores)(parameters, buffers, inputs)
    for seed, network in enumerate(networks):
        assert torch.allclose(together[seed], network(inputs[seed]), atol=1e-4)
        assert all(torch.allclose(buffers[name][seed], value, atol=1e-5) for name, value in network.named_buffers())


def test_an_image_model_on_vectors_is_refused() -> None:
    with pytest.raises(ValueError, match=r"model small_cnn must get images \(channels, height, width\), got \(5,\)."):
        _build("small_cnn", shape=(5,))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"name": "lineer"},
            "model.name: unknown model 'lineer'. Did you mean 'linear'? Known: densenet, densenet121, densenet169, "
            "densenet_40_40, linear, mlp, resnet18, resnet34, resnet50, small_cnn, vit_b_16.",
        ),
        ({"name": "mlp", "hiden": 3}, "model.hiden: unknown setting 'hiden'. Did you mean 'hidden'?"),
        ({"name": "mlp", "hidden": 0}, "model.hidden must be >= 1, got 0."),
        ({"name": "mlp", "hidden": 2.5}, "model.hidden must be a whole number >= 1, got 2.5."),
        ({"name": "linear", "bias": 1}, "model.bias must be true or false, got 1."),
        ({"name": "small_cnn", "width": -1}, "model.width must be >= 1, got -1."),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_model(settings)
    assert message in str(caught.value)
