"""Where on the circle a class is predicted: figure 5 of Sawada et al. 2020, and what any classifier could reach.

    python tests/benchmarks/papers/arcs.py [--out DIR]

Trains the networks of experiments 2 (linear) and 3 (8 hidden units) at a shift of 90 degrees, and prints the arcs on
which class 2 is among their first and first two, beside those where it is so by its density; and, for every level of
experiments 1 and 2, the best top-1, top-2 and average-2 accuracy that any classifier can have.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
from matplotlib.axes import Axes
from torch import Tensor

from setsweep.data.circle import best_avgk_accuracy, best_topk_accuracy
from setsweep.sweeps.reports.panels import panels, save
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import KeepModel
from setsweep.trainables.evaluation.predictor import SetPredictor
from setsweep.trainables.loop import train

CLASS, SHIFT, SIGMA = 2, 90.0, 10.0
MODELS = {
    "experiment 2": {"name": "linear", "bias": False},
    "experiment 3, m = 8": {"name": "mlp", "bias": False, "hidden": 8},
}
LOSSES = ("cross_entropy", "topk_grouping", "topk_transition")
DEGREES = torch.arange(0, 360, 0.5, dtype=torch.float64)


def main() -> None:
    """Print both tables and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("arcs"))
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    print("| | first: degrees | of the first two: degrees |\n| --- | --- | --- |")
    figure, axes = panels(len(MODELS), columns=2, width=5, height=3)
    for axis, (title, model) in zip(axes, MODELS.items(), strict=True):
        shown = {"density": _first_two(_densities())} | {loss: _first_two(_scores(model, loss)) for loss in LOSSES}
        for name, (first, among) in shown.items():
            print(f"| {title}: {name} | {_arcs(first)} | {_arcs(among)} |")
        _draw(axis, title, shown)
    print(f"drawn: {save(figure, out / 'figure-5.png')}\n")
    _print_best()


def _scores(model: dict[str, object], loss: str) -> Tensor:
    """(degrees, classes) of a network trained as the paper says."""
    plain = {
        "data": {"name": "circle", "sigma": SIGMA, "shift": SHIFT},
        "model": model,
        "loss": {"name": loss},
        "training": {"preset": "sawada_circle"},
        "k": 2,
        "seed": 0,
    }
    angles = torch.deg2rad(DEGREES)
    points = torch.stack([angles.cos(), angles.sin()], dim=1).float()
    with tempfile.TemporaryDirectory() as folder:
        train(complete_config(plain), keep_model=KeepModel(folder=Path(folder), criterion="top2_accuracy"))
        return torch.from_numpy(SetPredictor(Path(folder)).probabilities(points.numpy())).double()


def _densities() -> Tensor:
    """(degrees, classes), up to a factor."""
    centres = 60 * torch.arange(6, dtype=torch.float64)
    modes = ((2 / 3, 0.0), (1 / 3, SHIFT))
    away = [((DEGREES[:, None] - centres - shift + 180) % 360 - 180) / SIGMA for _, shift in modes]
    return sum((w * torch.exp(-(d**2) / 2) for (w, _), d in zip(modes, away, strict=True)), torch.zeros(()))


def _first_two(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Where the class has the largest score, and where it has one of the two largest."""
    largest = scores.topk(2).indices
    return largest[:, 0] == CLASS, (largest == CLASS).any(1)


def _arcs(inside: Tensor) -> str:
    """``85 to 155, 190 to 230``; arcs may go through 0."""
    begins = DEGREES[inside & ~inside.roll(1)].tolist()
    ends = DEGREES[inside & ~inside.roll(-1)].tolist()
    if not begins:
        return "all" if bool(inside.all()) else "none"
    ends = ends if ends[0] >= begins[0] else [*ends[1:], ends[0]]
    return ", ".join(f"{begin:g} to {end:g}" for begin, end in zip(begins, ends, strict=True))


def _draw(axis: Axes, title: str, shown: dict[str, tuple[Tensor, Tensor]]) -> None:
    for row, (first, among) in enumerate(reversed(shown.values())):
        for inside, width in ((among, 2.0), (first, 7.0)):
            where = DEGREES[inside].numpy()
            axis.plot(where, [row] * len(where), "s", markersize=width / 2, color="tab:green")
    axis.set_yticks(range(len(shown)), list(reversed(shown)))
    axis.set_xlabel("degrees")
    axis.set_title(f"{title}: class {CLASS} first (thick), of the first two (thin)", fontsize=8)


def _print_best() -> None:
    levels = {f"experiment 1, sigma {s}": (float(s), 0.0) for s in (10, 15, 20, 25, 30)}
    levels |= {f"experiment 2, shift {d}": (SIGMA, float(d)) for d in (30, 45, 60, 75, 90)}
    print("| best that any classifier can have (%) | top-1 | top-2 | average-2 |\n| --- | ---: | ---: | ---: |")
    for title, (sigma, shift) in levels.items():
        best = [best_topk_accuracy(k, sigma=sigma, shift=shift) for k in (1, 2)]
        best.append(best_avgk_accuracy(2, sigma=sigma, shift=shift))
        print(f"| {title} | " + " | ".join(f"{100 * each:.2f}" for each in best) + " |")


if __name__ == "__main__":
    main()
