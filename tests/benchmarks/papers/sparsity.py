"""How many coordinates of the loss's gradient are not 0 in the first epoch: figure 2 of Garcin et al. 2022.

    python tests/benchmarks/papers/sparsity.py [--model densenet_40_40] [--images 1280]

Trains one epoch on CIFAR-100 (SETSWEEP_DATA) as the paper does, batches of 64 and k = 5, and counts, in every step, the
coordinates of the gradient of each example's loss by its 100 scores. The paper's network takes hours on a CPU: the
default is `small_cnn` on all 45,000 images.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor

from setsweep.data import load_base
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.learners.initial import initial_loss, initial_model, training_feed

IMAGES = 45_000
EPSILONS = (0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
OTHERS = ("cross_entropy", "smooth_topk_hinge", "calibrated_topk_hinge")


def main() -> None:
    """Print a row for each epsilon, and for the losses that the paper compares with."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="small_cnn")
    parser.add_argument("--images", type=int, default=IMAGES)
    parser.add_argument("--draws", type=int, default=3, help="of noise")
    options = parser.parse_args()
    print(f"{options.model}, one epoch of {options.images} images, {options.draws} draws\n")
    print("| loss | non-zero of 100 | where the loss is not 0 |\n| --- | --- | --- |")
    for epsilon in EPSILONS:
        noised = {"name": "noised_topk_hinge", "epsilon": epsilon, "num_samples": options.draws}
        _row(f"noised, epsilon {epsilon:g}", options, noised)
    for name in OTHERS:
        _row(name, options, {"name": name})


def _row(title: str, options: argparse.Namespace, loss: dict[str, object]) -> None:
    config = complete_config(
        {
            "data": {"name": "cifar100", "subset": None if options.images >= IMAGES else options.images},
            "model": {"name": options.model},
            "loss": loss,
            "training": {"preset": "noised_cifar100", "epochs": 1, "milestones": []},
            "k": 5,
            "seed": 0,
            "test": False,
        }
    )
    everywhere, acting = first_epoch(config)
    print(f"| {title} | {everywhere:.2f} | {acting:.2f} |", flush=True)


def first_epoch(config: RunConfig) -> tuple[float, float]:
    """Train one; the mean number of coordinates that are not 0, of all examples and of those with a loss."""
    dataset, device = load_base(config.data), torch.device("cpu")
    model, feed = initial_model(config, dataset, device), training_feed(config, dataset, device)
    loss, _ = initial_loss(config, dataset, device)
    settings = config.training.optimizer
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        nesterov=True,
        weight_decay=settings.weight_decay,
    )
    counts: list[Tensor] = []
    for batch in feed.epoch():
        scores = model(batch.inputs)
        scores.retain_grad()
        loss(scores, batch.labels).mean().backward()
        counts.append((scores.grad != 0).sum(1))
        optimizer.step()
        optimizer.zero_grad()
    found = torch.cat(counts).float()
    return float(found.mean()), float(found[found > 0].mean())


if __name__ == "__main__":
    main()
