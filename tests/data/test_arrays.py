from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import torch

from setsweep.data import load_base, load_dataset
from setsweep.data.arrays import as_tensor, from_arrays, to_arrays


def test_a_tensor_on_read_only_memory_comes_without_copy_or_warning(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    mapped = np.load(tmp_path / "array.npy", mmap_mode="r")  # memory that the system itself protects

    tensor = as_tensor(mapped)  # a warning would be an error here

    assert tensor.data_ptr() == mapped.__array_interface__["data"][0]
    assert torch.equal(tensor, torch.arange(12, dtype=torch.uint8).view(3, 4))


def test_the_tensor_keeps_the_memory_alive() -> None:
    tensor = as_tensor(np.full(1_000_000, 7, dtype=np.int64))
    gc.collect()

    assert (tensor == 7).all()


def test_strided_arrays_keep_their_form() -> None:
    array = np.arange(24).reshape(4, 6)[::2, 1::2]
    array.flags.writeable = False

    assert as_tensor(array).tolist() == array.tolist()


def test_runs_on_read_only_data_work_and_leave_them_alone(tmp_path: Path) -> None:
    arrays = to_arrays(load_base({"name": "digits"}))
    for name, array in arrays.items():
        if isinstance(array, np.ndarray):
            np.save(tmp_path / f"{name}.npy", array)
            arrays[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    base = from_arrays(arrays)

    run = load_dataset({"name": "digits", "label_noise": 0.5}, seed=0, base=base)

    assert run.train.inputs.data_ptr() == arrays["train_inputs"].__array_interface__["data"][0]
    assert not torch.equal(run.train.labels, base.train.labels)
