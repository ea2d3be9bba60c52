"""The small models are the networks that they say they are."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from setsweep.trainables.config.sections import check_model
from setsweep.trainables.models.classifier import build_model
from setsweep.trainables.models.layers import ChannelsLast


def _build(name: str, *, shape: tuple[int, ...], **settings: Any) -> nn.Module:
    complete = check_model({"name": name, **settings})
    return build_model(complete, head="linear", input_shape=shape, num_classes=7, seed=0)


def test_sawadas_linear_model_has_12_parameters() -> None:
    model = build_model(
        check_model({"name": "linear", "bias": False}), head="linear", input_shape=(2,), num_classes=6, seed=0
    )
    assert sum(parameter.numel() for parameter in model.parameters()) == 12


def test_sawadas_network_of_m_hidden_units_has_8_m_parameters() -> None:
    model = build_model(
        check_model({"name": "mlp", "hidden": 5, "bias": False}),
        head="linear",
        input_shape=(2,),
        num_classes=6,
        seed=0,
    )
    assert sum(parameter.numel() for parameter in model.parameters()) == (2 + 6) * 5


def test_layers_are_counted_without_the_head() -> None:
    shapes = [
        tuple(layer.weight.shape)
        for layer in _build("mlp", hidden=4, layers=3, shape=(5,)).modules()
        if isinstance(layer, nn.Linear)
    ]
    assert shapes == [(4, 5), (4, 4), (4, 4), (7, 4)]


def test_small_cnn_is_the_network_that_it_says_it_is() -> None:
    # the same layers in the order of the papers (ReLU, then pooling) and the usual memory layout; in double precision
    network = _build("small_cnn", width=4, shape=(3, 9, 12)).double()
    weights = dict(network.named_parameters())
    convolutions = [value for value in weights.values() if value.ndim == 4]
    assert [tuple(value.shape) for value in convolutions] == [(4, 3, 3, 3), (8, 4, 3, 3), (16, 8, 3, 3)]
    images = torch.randn(5, 3, 9, 12, dtype=torch.float64)
    features = images
    for block, weight in enumerate(convolutions):
        features = nn.functional.conv2d(features, weight, padding=1)
        features = nn.functional.batch_norm(features, None, None, training=True).relu()
        if block < 2:
            features = nn.functional.max_pool2d(features, 2)
    expected = nn.functional.linear(features.mean((2, 3)), weights["head.weight"], weights["head.bias"])
    assert torch.allclose(network(images), expected, rtol=0, atol=1e-12)


def test_channels_of_a_pixel_lie_next_to_each_other_and_no_value_changes() -> None:
    images = torch.randn(2, 3, 4, 5)
    laid = ChannelsLast()(images)
    assert torch.equal(laid, images)
    assert laid.is_contiguous(memory_format=torch.channels_last)
