"""What GPUs there are, and whether several runs can share them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from setsweep.sweeps.commands.health.finding import Finding

FIELDS = "name,driver_version,memory.total,compute_mode,mig.mode.current"
SECONDS = 20


def check_gpus() -> Iterator[Finding]:
    """One line a GPU, and what keeps PyTorch or several runs from it."""
    rows = _ask_driver()
    if not rows:
        yield Finding(of="GPUs", said="none; runs train on CPUs")
        return
    import torch

    if not torch.cuda.is_available():
        yield Finding(
            of="GPUs",
            state="wrong",
            said=f"PyTorch {torch.__version__} sees none of {len(rows)}.",
            mend="Install PyTorch's build for CUDA, and a driver that is as new as that.",
        )
    for number, row in enumerate(rows):
        yield _describe(f"GPU {number}", row, mps=_has_mps())


def _describe(of: str, row: Sequence[str], *, mps: bool) -> Finding:
    name, driver, memory, mode, mig = row
    said = f"{name}, {memory}, driver {driver}, {'with' if mps else 'without'} MPS"
    if mig == "Enabled":
        rule = "MIG is on: Ray counts it as one GPU, and PyTorch sees one of its instances alone."
        mend = "Name the instances in CUDA_VISIBLE_DEVICES for one Ray node each, or turn MIG off."
        return Finding(of=of, state="note", said=f"{said}; {rule}", mend=mend)
    if mode == "Exclusive_Process" and not mps:
        rule = "one process at a time may use it, so that runs can't share it."
        mend = "Start nvidia-cuda-mps-control, or 'nvidia-smi --compute-mode=DEFAULT'."
        return Finding(of=of, state="note", said=f"{said}; {rule}", mend=mend)
    if mode == "Prohibited":
        return Finding(
            of=of, state="wrong", said=f"{said}; nobody may use it.", mend="nvidia-smi --compute-mode=DEFAULT"
        )
    return Finding(of=of, said=said)


def _ask_driver() -> list[list[str]]:
    """A row a GPU, as the driver tells it; none where there is no driver, or it does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        said = subprocess.run(  # noqa: S603 - the driver's own program
            [program, f"--query-gpu={FIELDS}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[field.strip() for field in line.split(",")] for line in said.splitlines()]
    return [row for row in rows if len(row) == len(FIELDS.split(","))]


def _has_mps() -> bool:
    """Whether the service runs by which processes share a GPU at the same moment."""
    return Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps"), "control").exists()  # noqa: S108 - its own
