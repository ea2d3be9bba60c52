"""What a run computes on and how exactly: its device, the precision of its products, and the record of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from setsweep.trainables.config.run_config import Training


def find_device(name: str) -> torch.device:
    """The device that `training.device` names.

    Raises:
        ValueError: it is not there.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("training.device must be a device that is there, got 'cuda' on a machine without one.")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


MOST_MEMORY = 0.9  # of a GPU that runs may take, as `memory_in_use` counts it


def memory_in_use(device: torch.device) -> float:
    """The share of a GPU's memory that is taken, by whatever process, 0 to 1; 0 on a CPU."""
    if device.type != "cuda":
        return 0.0
    free, total = torch.cuda.mem_get_info(device)
    return 1 - free / total


def lower_precision(precision: str, device: torch.device) -> AbstractContextManager[Any]:
    """Within it a model computes in the precision asked for; what it gives has to be made float32 again."""
    if precision == "bfloat16":
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return nullcontext()


def compiled(model: nn.Module, device: torch.device) -> Callable[[Tensor], Any]:
    """The model's forward, compiled; on CUDA its kernels are launched as one graph a step.

    Each size of batch is compiled by itself: there are two of them, the last of an epoch being the other.
    """
    torch.compiler.reset()  # what an earlier run of this process has compiled counts towards the compiler's limits
    return torch.compile(model, dynamic=False, mode="reduce-overhead" if device.type == "cuda" else "default")


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Within it PyTorch's global generators, the CPU's and the device's, begin at a seed; then they are as before."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed, and start, every GPU as well
        if device.type == "cuda":
            torch.cuda.manual_seed(seed)
        yield


def random_state(device: torch.device) -> list[Tensor]:
    """The states of PyTorch's global generators, the CPU's and the device's."""
    return [torch.get_rng_state(), *([torch.cuda.get_rng_state(device)] if device.type == "cuda" else [])]


def set_random_state(states: Sequence[Tensor], device: torch.device) -> None:
    """The inverse of `random_state`."""
    torch.set_rng_state(states[0])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states[1], device)


@contextmanager
def product_precision(precision: str) -> Iterator[None]:
    """Within it CUDA's products of float32 numbers are exact to float32, or rounded to TF32 where that is asked for.

    PyTorch's own default is neither: exact for matrices and TF32 for convolutions.
    """
    matmul, convolution = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, convolution.allow_tf32
    matmul.allow_tf32 = convolution.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        matmul.allow_tf32, convolution.allow_tf32 = before


def runtime(training: Training, device: torch.device, *, seeds: int, decoder: str | None = None) -> dict[str, Any]:
    """What a run was computed on and with, as plain data for its result.

    Args:
        training: of the run.
        device: of the run.
        seeds: how many were trained together.
        decoder: of image files, where the run was trained on such.
    """
    used: dict[str, Any] = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "threads": torch.get_num_threads(),
        "torch": str(torch.__version__),
        "precision": training.precision,
        "compiled": training.compile,
        "seeds": seeds,
    }
    if decoder is not None:
        used["decoder"] = decoder
    if device.type == "cuda":
        used["peak_mib"] = round(torch.cuda.max_memory_allocated(device) / 2**20)
    return used
