"""DenseNet for small images: it is the network that its authors, and the papers that use it, describe."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from setsweep.trainables.config.sections import check_model
from setsweep.trainables.models.classifier import Classifier, build_model


def _build(num_classes: int = 10, shape: tuple[int, ...] = (3, 32, 32), **settings: Any) -> Classifier:
    return build_model(
        check_model({"name": "densenet", **settings}),
        head="linear",
        input_shape=shape,
        num_classes=num_classes,
        seed=0,
    )


def _parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("depth", "growth", "bottleneck", "millions"),
    [
        (40, 12, False, 1.0),  # table 2 of Huang et al. (2017), column "Params"
        (100, 12, False, 7.0),
        (100, 24, False, 27.2),
        (100, 12, True, 0.8),
        (250, 24, True, 15.3),
        (190, 40, True, 25.6),
        (40, 36, True, 1.5),  # "Wide-DenseNet-BC" in the authors' repository
        (40, 48, True, 2.7),
        (40, 60, True, 4.3),
    ],
)
def test_its_size_and_depth_are_the_published_ones(depth: int, growth: int, bottleneck: bool, millions: float) -> None:
    with torch.device("meta"):
        model = _build(depth=depth, growth=growth, bottleneck=bottleneck)
    assert round(_parameters(model) / 1e6, 1) == millions
    assert sum(isinstance(layer, nn.Conv2d | nn.Linear) for layer in model.modules()) == depth


def test_the_papers_densenet_40_40_has_1_9_million_parameters_and_0_8_billion_multiply_adds() -> None:
    with torch.device("meta"):
        model = build_model({"name": "densenet_40_40"}, head="linear", input_shape=(3, 32, 32), num_classes=100, seed=0)
        with FlopCounterMode(display=False) as counter:
            model(torch.empty(1, 3, 32, 32))
    multiply_adds, channels = 32 * 32 * 3 * 9 * 80, 80  # by hand: the first convolution makes 2 * 40 channels
    for pixels in (32 * 32, 16 * 16, 8 * 8):
        for _ in range(6):
            multiply_adds += pixels * (channels * 160 + 160 * 9 * 40)
            channels += 40
        if pixels > 8 * 8:
            multiply_adds += pixels * channels * (channels // 2)
            channels //= 2
    multiply_adds += channels * 100
    assert counter.get_total_flops() == 2 * multiply_adds == 2 * 798_927_840
    assert _parameters(model) == 1_941_620


def test_the_densenet_40_40_is_the_densenet_of_depth_and_growth_40() -> None:
    named = build_model({"name": "densenet_40_40"}, head="linear", input_shape=(3, 32, 32), num_classes=10, seed=0)
    general = _build().state_dict()
    assert all(torch.equal(value, general[name]) for name, value in named.state_dict().items())


@pytest.mark.parametrize("bottleneck", [True, False])
def test_each_layer_sees_all_layers_before_it(bottleneck: bool) -> None:
    # the paper's equations, with weights in the order of the layers; in double precision
    model = _build(depth=10 if bottleneck else 7, growth=3, bottleneck=bottleneck, shape=(2, 8, 8)).double()
    kernels = iter([value for name, value in model.named_parameters() if value.ndim == 4])

    def composite(maps: torch.Tensor) -> torch.Tensor:
        kernel = next(kernels)
        activated = functional.batch_norm(maps, None, None, training=True).relu()
        return functional.conv2d(activated, kernel, padding=kernel.shape[2] // 2)

    images = torch.randn(4, 2, 8, 8, dtype=torch.float64)
    maps = functional.conv2d(images, next(kernels), padding=1)
    for block in range(3):
        if block > 0:
            maps = functional.avg_pool2d(composite(maps), 2)
        new = composite(composite(maps)) if bottleneck else composite(maps)
        maps = torch.cat([maps, new], dim=1)
    features = functional.batch_norm(maps, None, None, training=True).relu().mean((2, 3))
    assert torch.allclose(model.backbone(images), features, rtol=0, atol=1e-10)
    assert next(kernels, None) is None


def test_weights_start_as_in_the_published_code() -> None:
    model = _build()
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            expected = (2 / (layer.kernel_size[0] ** 2 * layer.out_channels)) ** 0.5
            error = expected / (2 * layer.weight.numel()) ** 0.5
            assert abs(float(layer.weight.detach().std()) - expected) < 5 * error  # wrong once in 40 000 seeds
        elif isinstance(layer, nn.BatchNorm2d):
            assert layer.weight.eq(1).all()
            assert layer.bias.eq(0).all()
        elif isinstance(layer, nn.Linear):
            assert layer.bias.eq(0).all()


def test_it_is_compiled_in_one_piece() -> None:
    model, images = _build(depth=10, growth=4).eval(), torch.randn(2, 3, 32, 32)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert torch.equal(compiled(images), model(images))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 41}, "model.depth must be 4 plus a multiple of 6 with bottlenecks, got 41."),
        ({"depth": 4}, "model.depth must be 4 plus a multiple of 6 with bottlenecks, got 4."),
        ({"depth": 41, "bottleneck": False}, "model.depth must be 4 plus a multiple of 3 without bottlenecks, got 41."),
        ({"growth": 0}, "model.growth must be >= 1, got 0."),
        ({"shape": (3, 3, 32)}, "model densenet must get images of at least 4 x 4 pixels, got (3, 3, 32)."),
    ],
)
def test_what_it_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        _build(**settings)
    assert str(caught.value) == message
