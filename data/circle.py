"""Points on a circle: the synthetic data of Sawada et al., "Trade-offs in top-k classification accuracies on losses for
deep learning" (2020), section IV.

Class c lies around the angle 360 c / classes on the unit circle, with standard deviation `sigma`; with `shift` > 0 a
point belongs, with probability `minor`, to a second mode of the same width, `shift` further on. Experiment 1 of the
paper is `shift` 0 and `sigma` 10 to 30; experiments 2 and 3 are `sigma` 10 and `shift` 30 to 90. The minor mode is
"2 times less frequent" there: probability 1/3, drawn for each point.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from setsweep.data.declaration import OF_RUN, DatasetDeclaration, DataSetting

if TYPE_CHECKING:
    from torch import Tensor

    from setsweep.data.dataset import Dataset, Split


def draw_circle(*, seed: int, sigma: float, shift: float, minor: float, classes: int, per_class: int) -> Dataset:
    """Fresh training, validation and test points, all drawn from the seed.

    Args:
        seed: of the run. Under one seed the settings of the distribution act on the same underlying draws.
        sigma: standard deviation of a mode, degrees.
        shift: from the major to the minor mode, degrees; 0: no minor mode.
        minor: probability of the minor mode.
        classes: number of classes, evenly spaced.
        per_class: points of each class in each split.
    """
    import torch

    from setsweep.data.dataset import Dataset, Split
    from setsweep.data.seeding import seeded_generator

    def draw(split: str) -> Split:
        generator = seeded_generator(seed, f"circle/{split}")
        labels = torch.arange(classes).repeat_interleave(per_class)
        normal = torch.randn(len(labels), dtype=torch.float64, generator=generator)
        in_minor = torch.rand(len(labels), dtype=torch.float64, generator=generator) < minor
        angles = torch.deg2rad(360 / classes * labels + shift * in_minor + sigma * normal)
        return Split(torch.stack([angles.cos(), angles.sin()], dim=1).float(), labels)

    names = tuple(f"{360 * c / classes:g} degrees" for c in range(classes))
    return Dataset(draw("train"), draw("val"), draw("test"), num_classes=classes, class_names=names)


def best_topk_accuracy(k: int, *, sigma: float, shift: float, minor: float = 1 / 3, classes: int = 6) -> float:
    """The best top-k accuracy that any classifier can have on this distribution (0..1).

    With classes equally frequent it is the integral over the circle of the k largest class densities, divided by the
    number of classes; computed with at least 100 steps a `sigma`, which is exact to about 1e-5.

    Args:
        k: size of the predicted sets.
        sigma: standard deviation of a mode, degrees.
        shift: from the major to the minor mode, degrees; 0: no minor mode.
        minor: probability of the minor mode.
        classes: number of classes, evenly spaced.
    """
    density, step = _densities(sigma, shift, minor, classes)
    return float(density.topk(k, dim=0).values.sum() * step / classes)


def best_avgk_accuracy(k: float, *, sigma: float, shift: float, minor: float = 1 / 3, classes: int = 6) -> float:
    """The best accuracy (0..1) that sets of k classes on average can have on this distribution.

    Those are the classes whose conditional probability reaches a threshold (Denis and Hebiri 2017): pairs of a point
    and a class are taken in the order of that probability until their number is k a point, a part of the last one.

    Args:
        k: mean size of the sets, 0 to `classes`.
        sigma, shift, minor, classes: see `best_topk_accuracy`.
    """
    density, step = _densities(sigma, shift, minor, classes)
    of_point = density.sum(0) * (step / classes)  # the share of the points that lie there
    likely, order = (density / density.sum(0)).flatten().sort(descending=True)
    share = of_point.repeat(classes)[order]
    taken = (k - (share.cumsum(0) - share)).clamp(min=share.new_zeros(()), max=share)
    return float((taken * likely).sum())


def _densities(sigma: float, shift: float, minor: float, classes: int) -> tuple[Tensor, float]:
    """Each class's density (classes, steps) per degree around the circle, and the degrees of a step."""
    import torch

    steps = math.ceil(max(100 * 360 / sigma, 3600))
    angles = torch.arange(steps, dtype=torch.float64) * (360 / steps)
    centres = 360 / classes * torch.arange(classes, dtype=torch.float64)[:, None]
    major = _wrapped_normal(angles - centres, sigma)
    return (1 - minor) * major + minor * _wrapped_normal(angles - centres - shift, sigma), 360 / steps


def _wrapped_normal(degrees: Tensor, sigma: float) -> Tensor:
    """Density of N(0, sigma) wrapped around the circle, per degree."""
    import torch

    turns = math.ceil(8 * sigma / 360) + 1
    wrapped = degrees.remainder(360)
    density = torch.zeros_like(wrapped)
    for turn in range(-turns, turns + 1):
        density += torch.exp(-0.5 * ((wrapped + 360 * turn) / sigma) ** 2)
    return density / (sigma * math.sqrt(2 * math.pi))


DECLARATION = DatasetDeclaration(
    name="circle",
    about="Points on the unit circle in 6 classes with one or two modes, drawn anew from each run's seed.",
    source="Sawada, Kaneko and Sagi (2020), section IV",
    settings={
        "sigma": DataSetting(
            default=10.0, above=0, unit="degrees", about="standard deviation of a mode", decides_task=True
        ),
        "shift": DataSetting(
            default=0.0, low=0, high=360, unit="degrees", about="from the major to the minor mode", decides_task=True
        ),
        "minor": DataSetting(default=1 / 3, low=0, high=1, about="probability of the minor mode", decides_task=True),
        "classes": DataSetting(default=6, low=2, about="number of classes, evenly spaced", decides_task=True),
        "per_class": DataSetting(
            default=300, low=1, unit="points", about="of each class in each split", decides_task=True
        ),
        **OF_RUN,
    },
    load=draw_circle,
    drawn_per_seed=True,
    num_classes=lambda settings: int(settings["classes"]),
)
