"""Level sets of every loss on the simplex: figures 1 and 6 of Garcin et al. 2022, and 4 and 5 of the preprint's.

    python tests/benchmarks/papers/level_sets.py [--out DIR]

Scores are in twice the simplex of three classes, the label's corner on top; losses are scaled to 0 and 1 there, and
noised ones averaged over 100 draws of their noise, as in the paper. Prints, for each panel, which share of the simplex
has a loss of (nearly) 0, and where the loss is when the label is the second of three: a top-2 loss should not mind.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from setsweep.losses import build_loss
from setsweep.sweeps.reports.panels import panels, save

LABEL, AVERAGED, STEPS = 1, 100, 60
SECOND = torch.tensor([[1.2, 0.6, 0.2]], dtype=torch.float64)  # the label's score is the second of three
Values = Callable[[Tensor], Tensor]  # (points, 3) scores to (points,) values


def main() -> None:
    """Draw the figures, and print a line for each of their panels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("level-sets"))
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, shown in (
        ("figure-1", _losses(2)),
        ("figure-6", _losses(1)),
        ("figure-4", {f"K = {k}, B = {b}": _noised(k, 1.0, b) for k in (1, 2) for b in (1, 5, 10, 50, 100)}),
        ("figure-5", {f"K = {k}, eps = {e:g}": _noised(k, e, 50) for k in (1, 2) for e in (0.1, 0.3, 0.5, 1.0, 2.0)}),
    ):
        print(f"\n| {name} | share of the simplex at 0 | with the label second |\n| --- | --- | --- |")
        _draw(name, shown, out)


def _losses(k: int) -> dict[str, Values]:
    """Those of Table 1, with a margin of 1."""
    smooth = {f"smoothed, tau = {t:g}": _named("smooth_topk_hinge", k, tau=t) for t in (0.1, 1.0)}
    noised = {f"noised, eps = {e:g}": _noised(k, e, 10) for e in (0.3, 1.0)}
    imbalanced = _named("noised_imbalanced_topk_hinge", k, epsilon=0.3, max_margin=1.0, scale=1.0, averaged=AVERAGED)
    hinges = {
        f"{name}hinge": _named(f"{name.replace(' ', '_')}topk_hinge", k) for name in ("", "calibrated ", "convex ")
    }
    return {
        "top-K error": lambda scores: (scores.topk(k).values[:, -1] > scores[:, LABEL]).double(),
        "cross-entropy": _named("cross_entropy", k),
        **hinges,
        **smooth,
        **noised,
        "noised, imbalanced": imbalanced,
        "focal": _named("focal", k),
        "LDAM": _named("ldam", k, max_margin=1.0, scale=1.0),
    }


def _noised(k: int, epsilon: float, draws: int) -> Values:
    return _named("noised_topk_hinge", k, epsilon=epsilon, num_samples=draws, averaged=AVERAGED)


def _named(name: str, k: int, *, averaged: int = 1, **settings: float) -> Values:
    """A loss of three classes at the label; k + 1 = 3 is the largest place that noised hinges have."""
    chance = torch.Generator().manual_seed(0)
    loss = build_loss(name, num_classes=3, k=k, class_counts=[9, 9, 9], generator=chance, **settings)

    def values(scores: Tensor) -> Tensor:
        labels = torch.full((len(scores),), LABEL)
        return torch.stack([loss(scores, labels) for _ in range(averaged)]).mean(0)

    return values


def _draw(name: str, shown: dict[str, Values], out: Path) -> None:
    points = _simplex()
    figure, axes = panels(len(shown), columns=5, width=2.2, height=2.2)
    for axis, (title, values) in zip(axes, shown.items(), strict=True):
        found = values(torch.cat([points, SECOND]))
        low, high = found[:-1].min(), found[:-1].max()
        scaled = ((found - low) / (high - low)).numpy()
        print(f"| {title} | {np.mean(scaled[:-1] < 1e-3):.2f} | {scaled[-1]:.2f} |")
        _panel(axis, title, points.numpy(), scaled[:-1])
    print(f"drawn: {save(figure, out / f'{name}.png')}")


def _panel(axis: Axes, title: str, points: np.ndarray, values: np.ndarray) -> None:
    across, up = (points[:, 2] - points[:, 0]) / 2, points[:, LABEL] * np.sqrt(3) / 2  # the label's corner is on top
    axis.tricontourf(across, up, values, levels=np.linspace(0, 1, 11), cmap="viridis")
    axis.set_title(title, fontsize=8)
    axis.set_axis_off()
    axis.set_aspect("equal")


def _simplex() -> Tensor:
    """(points, 3) of non-negative scores that sum to 2, on a triangular grid."""
    grid = torch.tensor([(i, j, STEPS - i - j) for i in range(STEPS + 1) for j in range(STEPS + 1 - i)])
    return 2 * grid.double() / STEPS


if __name__ == "__main__":
    main()
