"""Torchvision's networks: unchanged on large images, with a small stem on small ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from setsweep.trainables.config.sections import check_model
from setsweep.trainables.models.classifier import Classifier, build_model
from setsweep.trainables.models.torchvision_models import WEIGHTS


def _build(name: str, shape: tuple[int, ...] = (3, 32, 32), num_classes: int = 10, **settings: Any) -> Classifier:
    settings = ({"layers": 1} if name == "vit_b_16" else {}) | settings
    return build_model(
        check_model({"name": name, **settings}), head="linear", input_shape=shape, num_classes=num_classes, seed=0
    )


def _parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("name", WEIGHTS)
def test_on_large_images_size_and_cost_are_those_that_torchvision_publishes(name: str) -> None:
    import torchvision

    published = torchvision.models.get_model_weights(name)["IMAGENET1K_V1"].meta
    whole = {"layers": 12} if name == "vit_b_16" else {}
    with torch.device("meta"):
        model = _build(name, (3, 224, 224), num_classes=1000, **whole)
        with FlopCounterMode(display=False) as counter:
            model(torch.empty(2, 3, 224, 224))
    assert _parameters(model) == published["num_params"]
    assert counter.get_total_flops() / 4e9 == pytest.approx(published["_ops"], abs=1e-3)  # 10^9 multiply-adds an image


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_weights_that_can_be_named_are_those_that_torchvision_has(name: str) -> None:
    import torchvision

    assert {each.name for each in torchvision.models.get_model_weights(name)} == set(WEIGHTS[name])


@pytest.mark.parametrize(
    ("name", "parameters", "millions"),  # of parameters; of multiply-adds an image
    [
        ("resnet18", 11_173_962, 555.4),  # the numbers known of ResNet-18 on CIFAR-10
        ("resnet34", 21_282_122, 1159.4),
        ("resnet50", 23_520_842, 1297.8),
        ("densenet121", 6_956_426, 888.3),
        ("densenet169", 12_493_450, 1059.8),
    ],
)
def test_the_small_stem_is_one_convolution_of_3_x_3(name: str, parameters: int, millions: float) -> None:
    with torch.device("meta"):
        model = _build(name)
        with FlopCounterMode(display=False) as counter:
            model(torch.empty(2, 3, 32, 32))
    assert _parameters(model) == parameters
    assert counter.get_total_flops() / 4e6 == pytest.approx(millions, abs=0.1)


@pytest.mark.parametrize(("side", "stem"), [(63, "small"), (64, "imagenet")])
def test_the_stem_goes_by_the_size_of_the_images(side: int, stem: str) -> None:
    with torch.device("meta"):
        chosen, named = _build("resnet18", (3, side, side)), _build("resnet18", (3, side, side), stem=stem)
        other = _build("resnet18", (3, side, side), stem={"small": "imagenet", "imagenet": "small"}[stem])
    assert _shapes(chosen) == _shapes(named) != _shapes(other)


def _shapes(model: nn.Module) -> list[tuple[int, ...]]:
    return [tuple(parameter.shape) for parameter in model.parameters()]


@pytest.mark.parametrize(("side", "patches"), [(32, 8 * 8), (64, 4 * 4)])
def test_the_vit_cuts_large_images_into_patches_of_16_and_small_ones_of_4(side: int, patches: int) -> None:
    model = _build("vit_b_16", (1, side, side))
    positions = model.get_parameter("backbone.encoder.pos_embedding")
    assert positions.shape == (1, patches + 1, 768)  # and the class token


@pytest.mark.parametrize(("name", "channels"), [(name, channels) for name in WEIGHTS for channels in (1, 4)])
def test_first_weights_of_other_channels_have_the_spread_of_torchvisions(name: str, channels: int) -> None:
    weights = _build(name, (channels, 64, 64)).state_dict().values()
    first = next(value for value in weights if value.ndim == 4)
    fan_in, fan_out = first[0].numel(), first[:, 0].numel()
    variance = 1 / fan_in if name == "vit_b_16" else 2 / (fan_in if name.startswith("densenet") else fan_out)
    error = (2 / first.numel()) ** 0.5  # of the estimated variance; the ViT's distribution is cut at 2 units
    assert float(first.var()) == pytest.approx(variance, rel=5 * error)  # wrong once in a million seeds


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("resnet18", {"stem": "tiny"}, "model.stem must be one of auto, imagenet, small, got 'tiny'."),
        ("vit_b_16", {"layers": 0}, "model.layers must be >= 1, got 0."),
        (
            "vit_b_16",
            {"shape": (3, 64, 80)},
            "model vit_b_16 must get squares of a multiple of 16 pixels a side, got (3, 64, 80).",
        ),
        (
            "vit_b_16",
            {"shape": (3, 30, 30)},
            "model vit_b_16 must get squares of a multiple of 4 pixels a side, got (3, 30, 30).",
        ),
        (
            "densenet121",
            {"shape": (3, 7, 32)},
            "model densenet121 must get images of at least 8 x 8 pixels, got (3, 7, 32).",
        ),
        (
            "densenet169",
            {"shape": (3, 28, 28), "stem": "imagenet"},
            "model densenet169 must get images of at least 29 x 29 pixels, got (3, 28, 28).",
        ),
    ],
)
def test_what_they_cannot_take_is_refused(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        _build(name, **settings)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "shape", "stem"),
    [
        ("resnet18", (3, 2, 2), "small"),
        ("densenet121", (3, 8, 8), "small"),
        ("densenet121", (3, 29, 29), "imagenet"),
        ("vit_b_16", (3, 4, 4), "small"),
    ],
)
def test_the_smallest_images_that_they_take_give_scores(name: str, shape: tuple[int, ...], stem: str) -> None:
    assert _build(name, shape, stem=stem).eval()(torch.randn(1, *shape)).shape == (1, 10)
