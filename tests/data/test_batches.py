from __future__ import annotations

import torch

from setsweep.data.batches import epoch_order, normalise
from setsweep.data.seeding import seeded_generator


def test_every_pixel_value_becomes_what_the_formula_says() -> None:
    mean, std = (0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)
    images = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16).repeat(2, 3, 1, 1)

    values = normalise(images, mean, std)

    expected = (images.double() / 255 - torch.tensor(mean).double().view(-1, 1, 1)) / torch.tensor(std).double().view(
        -1, 1, 1
    )
    assert values.dtype == torch.float32
    torch.testing.assert_close(
        values.double(), expected, rtol=0, atol=1e-6
    )  # a few float32 roundings of values up to 2.2


def test_images_without_mean_and_deviation_are_scaled_to_0_and_1() -> None:
    values = normalise(torch.tensor([0, 51, 255], dtype=torch.uint8).view(1, 1, 1, 3), None, None)

    torch.testing.assert_close(values.flatten(), torch.tensor([0.0, 0.2, 1.0]))


def test_images_are_left_as_they_are() -> None:
    images = torch.full((1, 1, 2, 2), 7, dtype=torch.uint8)

    normalise(images, (0.5,), (0.5,))

    assert (images == 7).all()


def test_floats_pass_through() -> None:
    points = torch.randn(4, 2, generator=seeded_generator(0, "test"))

    assert normalise(points, None, None) is points
    assert normalise(points.double(), None, None).dtype == torch.float32


def test_an_epoch_visits_every_example_once_and_each_epoch_in_another_order() -> None:
    generator = seeded_generator(0, "test")

    first, second = epoch_order(1000, generator), epoch_order(1000, generator)

    assert torch.equal(first.sort().values, torch.arange(1000))
    assert torch.equal(second.sort().values, torch.arange(1000))
    assert not torch.equal(first, second)
    assert torch.equal(first, epoch_order(1000, seeded_generator(0, "test")))
