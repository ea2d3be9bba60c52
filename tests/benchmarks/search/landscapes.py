"""What searches are played on: real runs of a journal, and laws in which one thing is hard.

A landscape gives what a run would give on validation, a share between 0 and 1, at a point of the unit cube with a seed,
and what it gives on average. A repetition draws its own seeds: all configurations have them in common, as in a study.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Landscape:
    """See above.

    Args:
        name: in tables.
        dimensions: of the cube.
        mean: the average at points (n, dimensions), (n,).
        noise: the deviation from it of `seeds` seeds at points, (n, seeds), drawn by a generator.
        best: the highest average of all.
    """

    name: str
    dimensions: int
    mean: Callable[[Array], Array]
    noise: Callable[[np.random.Generator, Array, int], Array]
    best: float


def law(
    name: str,
    dimensions: int,
    mean: Callable[[Array], Array],
    spread: Callable[[Array], Array],
    *,
    shared: float = 0.7,
    freedom: int = 0,
) -> Landscape:
    """Normal (or Student t) noise of which the seeds share a part over all configurations.

    Args:
        name, dimensions, mean: of the landscape.
        spread: standard deviation at points.
        shared: its share of variance that is the seed's; paired differences have 1 / (1 - shared) times less variance.
        freedom: of Student's t; 0: normal.
    """

    def noise(draw: np.random.Generator, points: Array, seeds: int) -> Array:
        def drawn(*shape: int) -> Array:
            if freedom:
                return draw.standard_t(freedom, shape) / np.sqrt(freedom / (freedom - 2))
            return draw.standard_normal(shape)

        both = np.sqrt(shared) * drawn(1, seeds) + np.sqrt(1 - shared) * drawn(len(points), seeds)
        return spread(points)[:, None] * both

    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 401)] * dimensions), -1).reshape(-1, dimensions)
    return Landscape(name, dimensions, mean, noise, float(mean(grid).max()))


def laws() -> list[Landscape]:
    """The made-up ones; spreads and depths are those of digits with 40 % label noise, in shares."""

    def bowl(depth: float) -> Callable[[Array], Array]:
        return lambda x: 0.90 - depth * ((x - np.array([0.62, 0.37])) ** 2).sum(1)

    def cliff(x: Array) -> Array:
        return np.where(x[:, 0] < 0.35, 0.3, 0.90 - 0.08 * (x[:, 0] - 0.45) ** 2 - 0.08 * (x[:, 1] - 0.4) ** 2)

    def even(x: Array) -> Array:
        return np.full(len(x), 0.006)

    return [
        law("noisy quadratic", 2, bowl(0.1), even),
        law("flat", 2, bowl(0.004), even),
        law("steep", 2, bowl(0.6), even),
        law("cliff", 2, cliff, even),
        law("unequal noise", 2, bowl(0.1), lambda x: 0.002 + 0.02 * (1 - x[:, 0])),
        law("Student t3", 2, bowl(0.1), even, freedom=3),
        law("seeds not shared", 2, bowl(0.1), even, shared=0.0),
    ]


def real(folder: Path) -> list[Landscape]:
    """Those of the journals that ``make.py`` has made, between the points of the grid by interpolation of the means."""
    return [
        _real(folder / "rates-and-alphas", "real: rate x alpha", ("training.optimizer.lr", "loss.alpha"), (9, 9)),
        _real(folder / "alphas", "real: alpha", ("loss.alpha",), (21,)),
        _real(folder / "epsilons", "real: epsilon", ("loss.epsilon",), (21,)),
    ]


def _real(folder: Path, name: str, paths: tuple[str, ...], shape: tuple[int, ...]) -> Landscape:
    from scipy.interpolate import RegularGridInterpolator

    table = _values(folder, paths).reshape(*shape, -1)
    means, residuals = table.mean(-1), table - table.mean(-1, keepdims=True)
    axes = [np.linspace(0, 1, size) for size in shape]
    between = RegularGridInterpolator(axes, means)

    def noise(draw: np.random.Generator, points: Array, seeds: int) -> Array:
        nearest = tuple(np.rint(points * (np.array(shape) - 1)).astype(int).T)
        order = draw.permutation(table.shape[-1])[:seeds]
        own: Array = residuals[nearest][:, order]
        return own

    return Landscape(name, len(shape), lambda x: np.asarray(between(x)), noise, float(means.max()))


def _values(folder: Path, paths: tuple[str, ...]) -> Array:
    """(configurations in the order of the grid, seeds); a run that failed counts 0."""
    found: dict[tuple[float, ...], dict[int, float]] = {}
    for line in (folder / "journal.jsonl").read_text().splitlines():
        record = json.loads(line)
        for each in record["results"] if record["record"] == "results" else [record]:
            if each["record"] == "result" and each["stage"] == "search":
                at = tuple(_at(each["config"], path) for path in paths)
                value = each["result"]["metrics"].get("val/avg2_accuracy", 0.0)
                found.setdefault(at, {})[each["config"]["seed"]] = value
    return np.array([[found[at][seed] for seed in sorted(found[at])] for at in sorted(found)])


def _at(config: Any, path: str) -> float:
    for name in path.split("."):
        config = config[name]
    return float(config)
