"""One epoch of training images, against the loop of the tutorials on the same machine in the same call.

    python tests/benchmarks/trainables/epoch.py share        what of an epoch is not forward, backward or step
    python tests/benchmarks/trainables/epoch.py tutorial     epochs per hour, and validation accuracy over seeds
    python tests/benchmarks/trainables/epoch.py variants     the time of an epoch by precision, compiled or not
    python tests/benchmarks/trainables/epoch.py losses       what each loss adds to an epoch of cross-entropy
    python tests/benchmarks/trainables/epoch.py peak         share of the device's measured peak of products and memory

The peer is what the tutorials of PyTorch and torchvision teach: torchvision's CIFAR100, a transform per image, a loader
with workers, `nn.CrossEntropyLoss`, `torch.optim.SGD`, float32. CIFAR-100 is read from SETSWEEP_DATA; without it, and
with --synthetic, random images of the same shape serve, whose accuracy says nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from peer import tutorial_run
from torch import Tensor

import setsweep.trainables.seed_group
from setsweep.data import load_base
from setsweep.data.dataset import Dataset, Split
from setsweep.data.files import data_root
from setsweep.losses import LOSSES
from setsweep.sweeps.statistics.methods.intervals import mean_interval
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.learners.build import build_learner
from setsweep.trainables.learners.initial import training_feed
from setsweep.trainables.loop import train


def main() -> None:
    """Parse the command line and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("share", "tutorial", "variants", "losses", "peak"))
    parser.add_argument("--model", default="small_cnn")
    parser.add_argument("--images", type=int, default=10_000, help="training images")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2, help="of the tutorial's DataLoader")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--losses", nargs="*", default=sorted(LOSSES))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dataset = _dataset(options)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    print(f"{options.model}, {len(dataset.train)} images, batches of {options.batch_size}, {device}")
    modes = {"share": _share, "tutorial": _tutorial, "variants": _variants, "losses": _losses, "peak": _peak}
    modes[options.what](options, dataset)


def _dataset(options: argparse.Namespace) -> Dataset:
    if not options.synthetic and (data_root(None) / "cifar-100-python").is_dir():
        return load_base({"name": "cifar100", "subset": min(options.images, 45_000)})
    chance = torch.Generator().manual_seed(0)
    splits = [
        Split(
            torch.randint(256, (n, 3, 32, 32), dtype=torch.uint8, generator=chance),
            torch.arange(n) % 100,
        )
        for n in (options.images, 5_000, 1_000)
    ]
    return Dataset(*splits, num_classes=100, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))


def _config(options: argparse.Namespace, *, seed: int = 0, loss: str = "cross_entropy", epochs: int = 0) -> RunConfig:
    epochs = epochs or options.epochs
    return complete_config(
        {
            "data": {"name": "cifar100"},
            "model": {"name": options.model},
            "loss": {"name": loss, **({"num_samples": 3} if loss == "noised_topk_hinge" else {})},
            "training": {
                "epochs": epochs,
                "batch_size": options.batch_size,
                "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 5e-4},
                "milestones": sorted({max(1, epochs * part // 4) for part in (2, 3)} - {epochs}),
                "augment": {"pad_crop": 4, "flip": True},
                "precision": options.precision,
                "compile": options.compile,
            },
            "k": [1, 5],
            "seed": seed,
            "test": False,
        }
    )


def _share(options: argparse.Namespace, dataset: Dataset) -> None:
    """Time every call of the learner; the rest of the run is ours to keep small."""
    if torch.cuda.is_available():
        raise SystemExit("share needs a CPU, where a call has done its work when it returns")
    with _timed_learner() as spent:
        result = train(_config(options), dataset=dataset)
    outside = 1 - sum(spent.values()) / result.seconds
    print(f"{result.seconds:.1f} s: steps {spent['step']:.1f} s, forward of validation {spent['scores']:.1f} s")
    print(f"outside forward, backward and step: {100 * outside:.1f} %")


@contextlib.contextmanager
def _timed_learner() -> Iterator[dict[str, float]]:
    spent = {"step": 0.0, "scores": 0.0}

    def timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            clock = time.perf_counter()
            try:
                return call(*arguments)
            finally:
                spent[name] += time.perf_counter() - clock

        return wrapped

    def build(*arguments: Any) -> Any:
        learner = build_learner(*arguments)
        for name in spent:
            setattr(learner, name, timed(name, getattr(learner, name)))
        return learner

    setsweep.trainables.seed_group.build_learner = build  # type: ignore[assignment]
    try:
        yield spent
    finally:
        setsweep.trainables.seed_group.build_learner = build_learner


def _tutorial(options: argparse.Namespace, dataset: Dataset) -> None:
    ours, peers, seconds = [], [], {"ours": 0.0, "tutorial": 0.0}
    for seed in range(options.seeds):  # in turn, so that a busy machine is busy for both
        result = train(_config(options, seed=seed), dataset=dataset)
        ours.append(result.curves["val/top1_accuracy"][-1])
        seconds["ours"] += result.seconds
        accuracy, spent = tutorial_run(dataset, _config(options, seed=seed), workers=options.workers, device=_device())
        peers.append(accuracy)
        seconds["tutorial"] += spent
    for name, values in (("ours", ours), ("tutorial", peers)):
        per_hour = 3600 * options.seeds * options.epochs / seconds[name]
        print(f"{name:9} {per_hour:9.1f} epochs/h   top-1 on validation {_summary(values)}")
    print(f"ratio of epochs per hour: {seconds['tutorial'] / seconds['ours']:.2f}")


def _summary(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{100 * values[0]:.2f} %"
    found = mean_interval(values, confidence=0.95)
    low, high = 100 * (found.ci_low or 0.0), 100 * (found.ci_high or 0.0)
    return f"{(low + high) / 2:.2f} +- {(high - low) / 2:.2f} % over {len(values)} seeds"


def _variants(options: argparse.Namespace, dataset: Dataset) -> None:
    """Each variant's second run: the first pays for compilation and warm-up."""
    for precision in ("float32", "tf32", "bfloat16"):
        for compiled in (False, True):
            options.precision, options.compile = precision, compiled
            first, second = (train(_config(options), dataset=dataset) for _ in range(2))
            name, per_epoch = "compiled" if compiled else "eager", second.seconds / options.epochs
            accuracy = 100 * second.curves["val/top1_accuracy"][-1]
            print(f"{precision:9}{name:9}{per_epoch:8.2f} s an epoch, top-1 {accuracy:.2f} %", end="", flush=True)
            print(f"   (first run {first.seconds:.1f} s in all)", flush=True)


def _losses(options: argparse.Namespace, dataset: Dataset) -> None:
    """Cross-entropy is measured again beside every loss: machines drift."""
    epochs = max(2, options.epochs)
    train(_config(options, epochs=epochs), dataset=dataset)  # what a first run pays for
    for loss in options.losses:
        times = {
            name: train(_config(options, loss=name, epochs=epochs), dataset=dataset).seconds
            for name in ("cross_entropy", loss)
        }
        print(f"{loss:30} {100 * (times[loss] / times['cross_entropy'] - 1):+6.1f} %")


def _peak(options: argparse.Namespace, dataset: Dataset) -> None:
    """Products of the model per second of training, against the largest rate that matrices reach here."""
    from torch.utils.flop_counter import FlopCounterMode

    config = _config(options)
    device = _device()
    learner = build_learner([config], [dataset], device)
    feed = training_feed(config, dataset, device)
    batch = next(iter(feed.epoch()))
    with FlopCounterMode(display=False) as counter:
        learner.step([batch], 0.1)
    result = train(config, dataset=dataset)
    steps = options.epochs * feed.steps
    dtype = torch.bfloat16 if options.precision == "bfloat16" else torch.float32
    achieved, peak = counter.get_total_flops() * steps / result.seconds, _matrix_peak(device, dtype)
    print(f"{achieved / 1e12:.3f} of {peak / 1e12:.3f} TFLOP/s ({dtype}): {100 * achieved / peak:.1f} %")
    print(f"memory bandwidth, measured by copying: {_bandwidth(device) / 1e9:.0f} GB/s")


def _matrix_peak(device: torch.device, dtype: torch.dtype) -> float:
    n = 8192 if device.type == "cuda" else 1024
    left, right = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(2))
    return 2 * n**3 / _best_time(lambda: left @ right, device)


def _bandwidth(device: torch.device) -> float:
    source = torch.zeros(2**30 if device.type == "cuda" else 2**27, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return 2 * source.numel() / _best_time(lambda: target.copy_(source), device)


def _best_time(call: Callable[[], Tensor], device: torch.device) -> float:
    best = float("inf")
    for _ in range(10):
        _wait(device)
        clock = time.perf_counter()
        call()
        _wait(device)
        best = min(best, time.perf_counter() - clock)
    return best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


if __name__ == "__main__":
    main()
