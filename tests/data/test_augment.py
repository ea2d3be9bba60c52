from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from setsweep.data.augment import Draws, centre_crop, crop_and_flip, cut_out, draw_augmentation, mix
from setsweep.data.augmentation import Augmentation
from setsweep.data.seeding import seeded_generator

IMAGES = torch.randint(1, 256, (40, 3, 9, 7), dtype=torch.uint8, generator=seeded_generator(0, "images"))


def drawn(n: int = 40, *, batch_size: int = 40, seed: int = 0, **augmentation: Any) -> Draws:
    generator = seeded_generator(seed, "augmentation")
    return draw_augmentation(Augmentation(**augmentation), n, batch_size=batch_size, generator=generator)


def slow_window(image: Tensor, place: Tensor, height: int, width: int, padding: int) -> Tensor:
    """The window of one image by plain slicing."""
    channels, rows, columns = image.shape
    framed = torch.zeros(channels, rows + 2 * padding, columns + 2 * padding, dtype=torch.uint8)
    framed[:, padding : padding + rows, padding : padding + columns] = image
    top = int(place[0]) % (framed.shape[1] - height + 1)
    left = int(place[1]) % (framed.shape[2] - width + 1)
    return framed[:, top : top + height, left : left + width]


@pytest.mark.parametrize(("size", "padding"), [((9, 7), 4), ((9, 7), 0), ((5, 5), 0), ((5, 6), 2), ((9, 5), 1)])
@pytest.mark.parametrize("flip", [False, True])
def test_windows_and_flips_are_those_of_one_image_at_a_time(size: tuple[int, int], padding: int, flip: bool) -> None:
    draws = drawn()

    images = crop_and_flip(IMAGES, draws, size, padding=padding, flip=flip)

    expected = [slow_window(image, place, *size, padding) for image, place in zip(IMAGES, draws.places, strict=True)]
    expected = [each.flip(-1) if flip and one else each for each, one in zip(expected, draws.flips, strict=True)]
    assert torch.equal(images, torch.stack(expected))


def test_images_that_are_not_contiguous_give_the_same() -> None:
    draws = drawn()

    strided = IMAGES.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)

    assert torch.equal(
        crop_and_flip(strided, draws, (5, 5), padding=0, flip=True),
        crop_and_flip(IMAGES, draws, (5, 5), padding=0, flip=True),
    )


def test_images_are_left_as_they_are() -> None:
    before = IMAGES.clone()

    crop_and_flip(IMAGES, drawn(), (9, 7), padding=2, flip=True)

    assert torch.equal(IMAGES, before)


def test_every_window_and_both_directions_are_equally_frequent() -> None:
    draws = drawn(90_000)

    counts = torch.bincount(draws.places[:, 0] % 9 * 9 + draws.places[:, 1] % 9, minlength=81)

    # chi-squared with 80 degrees of freedom: mean 80, deviation 12.6; 160 is passed with probability 3e-7
    assert ((counts - 90_000 / 81) ** 2 / (90_000 / 81)).sum() < 160
    # 90,000 throws of a coin: 5 standard deviations, false alarm 6e-7
    assert abs(draws.flips.double().mean() - 0.5) < 5 * 0.5 / 300


def test_the_centre_is_torchvisions() -> None:
    from torchvision.transforms.functional import center_crop

    for height, width, side in ((9, 7, 5), (8, 11, 4), (10, 5, 5), (7, 8, 3)):
        image = torch.arange(height * width).view(1, height, width)

        assert torch.equal(centre_crop(image, side), center_crop(image, [side, side]))


@pytest.mark.parametrize("side", [1, 4, 5, 30])
def test_cutout_blanks_the_square_that_the_published_code_blanks(side: int) -> None:
    draws = drawn()
    values = torch.randn(40, 3, 9, 7, generator=seeded_generator(0, "values")) + 10

    blanked = cut_out(values.clone(), draws.centres, side)

    for before, after, centre in zip(values, blanked, draws.centres, strict=True):
        expected = before.clone()
        row, column = int(centre[0]) % 9, int(centre[1]) % 7
        rows = slice(max(0, row - side // 2), max(0, row - side // 2 + side))
        columns = slice(max(0, column - side // 2), max(0, column - side // 2 + side))
        expected[:, rows, columns] = 0
        assert torch.equal(after, expected)


def test_a_cutout_square_at_the_border_is_clipped() -> None:
    values = cut_out(torch.ones(1, 1, 6, 6), torch.tensor([[0, 5]]), 4)

    assert values.sum() == 36 - 2 * 3  # rows 0 and 1, columns 3 to 5


def test_mixup_mixes_within_batches_with_one_weight_each() -> None:
    draws = drawn(10, batch_size=4, mixup=0.2)

    for rows in (slice(0, 4), slice(4, 8), slice(8, 12)):
        batch = draws.rows(rows)
        assert batch.partners.sort().values.tolist() == list(range(len(batch.partners)))
        assert len(batch.weights.unique()) == 1
    assert len(draws.weights.unique()) == 3


def test_mixed_values_and_labels_have_the_same_weights() -> None:
    draws = drawn(6, batch_size=6, mixup=1.0)
    values = torch.randn(6, 2, 3, 3, generator=seeded_generator(0, "values"))
    labels = torch.tensor([0, 1, 2, 3, 0, 1])

    mixed, soft = mix(values, labels, draws, 5)

    weight = float(draws.weights[0])
    expected = weight * values + (1 - weight) * values[draws.partners]
    torch.testing.assert_close(mixed, expected, rtol=0, atol=1e-6)
    certain = torch.eye(5)[labels]
    torch.testing.assert_close(soft, weight * certain + (1 - weight) * certain[draws.partners], rtol=0, atol=1e-6)
    torch.testing.assert_close(soft.sum(1), torch.ones(6))


@pytest.mark.parametrize("alpha", [0.01, 0.2, 1.0, 8.0])
def test_mixing_weights_have_the_beta_distributions_moments(alpha: float) -> None:
    weights = drawn(20_000, batch_size=1, mixup=alpha).weights.double()

    variance = 1 / (4 * (2 * alpha + 1))
    # of 20,000 weights in 0..1: mean within 5 deviations (false alarm 6e-7), variance within 6 % (its own deviation is
    # at most sqrt((kurtosis - 1) / n), below 1 % for every alpha)
    assert abs(weights.mean() - 0.5) < 5 * math.sqrt(variance / 20_000)
    assert abs(weights.var() / variance - 1) < 0.06
    assert weights.isfinite().all()


@pytest.mark.skipif(not torch.backends.cuda.is_built(), reason="needs a PyTorch that was built with CUDA")
def test_on_a_gpu_nothing_waits_for_it_or_leaves_it() -> None:
    with FakeTensorMode():  # shapes and devices, without a GPU; reading a value raises
        pair, number = (torch.empty(size, dtype=torch.int64, device="cuda") for size in ((40, 2), (40,)))
        draws = Draws(places=pair, centres=pair, flips=number > 0, partners=number, weights=number.float())
        images = torch.empty(40, 3, 9, 7, dtype=torch.uint8, device="cuda")
        windows = crop_and_flip(images, draws, (5, 5), padding=2, flip=True)
        values, labels = mix(cut_out(windows.float(), draws.centres, 3), number, draws, 4)
    assert values.device.type == labels.device.type == "cuda"
    assert values.shape == (40, 3, 5, 5)


def test_the_chance_of_one_augmentation_is_the_same_with_and_without_another() -> None:
    plain, mixing = drawn(), drawn(mixup=0.5)

    for name in ("places", "centres", "flips"):
        assert torch.equal(getattr(plain, name), getattr(mixing, name))


def test_the_generator_advances_alike_whatever_is_drawn() -> None:
    generators = [seeded_generator(0, "a") for _ in range(2)]

    for generator, mixup in zip(generators, (0.0, 0.4), strict=True):
        draw_augmentation(Augmentation(mixup=mixup), 10, batch_size=3, generator=generator)

    assert torch.equal(generators[0].get_state(), generators[1].get_state())


def test_equal_seeds_draw_equally_and_others_otherwise() -> None:
    assert torch.equal(drawn(mixup=0.2).weights, drawn(mixup=0.2).weights)
    assert torch.equal(drawn().places, drawn().places)
    assert not torch.equal(drawn().places, drawn(seed=1).places)
    assert not torch.equal(drawn(mixup=0.2).weights, drawn(mixup=0.2, seed=1).weights)
