"""What a run is computed on, and how exactly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import nn

from setsweep.data.image_decoder import image_decoder
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import Training
from setsweep.trainables.device import (
    find_device,
    lower_precision,
    product_precision,
    random_state,
    runtime,
    seeded,
    set_random_state,
)
from setsweep.trainables.loop import train


@pytest.mark.skipif(torch.cuda.is_available(), reason="for machines without CUDA")
def test_without_cuda_the_device_is_the_cpu_unless_cuda_is_asked_for() -> None:
    assert find_device("auto") == find_device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match=r"^training.device must be a device that is there, got 'cuda' on a machine"):
        find_device("cuda")


@pytest.mark.parametrize(
    ("precision", "dtype"), [("float32", torch.float32), ("tf32", torch.float32), ("bfloat16", torch.bfloat16)]
)
def test_a_model_computes_in_the_precision_asked_for(precision: str, dtype: torch.dtype) -> None:
    with lower_precision(precision, torch.device("cpu")):
        assert nn.Linear(2, 2)(torch.zeros(1, 2)).dtype == dtype
    assert nn.Linear(2, 2)(torch.zeros(1, 2)).dtype == torch.float32


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16"])
def test_products_are_rounded_to_tf32_only_where_it_is_asked_for_and_only_there(precision: str) -> None:
    def allowed() -> tuple[bool, bool]:
        return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32

    def within() -> None:
        with product_precision(precision):
            assert allowed() == (precision == "tf32",) * 2
            raise InterruptedError

    before = allowed()
    with pytest.raises(InterruptedError):
        within()
    assert allowed() == before


def test_the_record_of_a_run_says_what_it_was_computed_on_in_plain_data() -> None:
    used = runtime(Training(precision="bfloat16"), torch.device("cpu"), seeds=3)
    assert used == {
        "device": "cpu",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "precision": "bfloat16",
        "compiled": False,
        "seeds": 3,
    }
    assert json.loads(json.dumps(used)) == used
    assert type(used["torch"]) is str


@pytest.mark.parametrize("store", ["files", "memory"])
def test_the_record_of_a_run_on_image_files_names_what_decoded_them(tmp_path: Path, store: str) -> None:
    for name in "ab":
        (tmp_path / "images" / name).mkdir(parents=True)
        for number in range(4):
            Image.effect_noise((9, 9), 50).save(tmp_path / "images" / name / f"{number}.jpg")
    data = {"name": "image_folder", "resize": 8, "crop": 8, "store": store}
    training = {"epochs": 1, "batch_size": 2}
    parts = {"data": data, "model": {"name": "linear"}, "loss": {"name": "cross_entropy"}, "training": training}

    result = train(complete_config({**parts, "k": 1}), root=tmp_path)

    assert result.runtime["decoder"] == image_decoder()


def test_a_run_that_is_not_compiled_does_not_import_the_compiler() -> None:
    code = """
import sys
from setsweep.trainables.loop import train
from setsweep.trainables.config.complete import complete_config
training = {"epochs": 2, "clip_norm": 1, "ema": 0.9, "precision": "bfloat16"}
parts = {"data": {"name": "circle"}, "model": {"name": "linear"}, "loss": {"name": "avgk"}, "k": 2}
assert train(complete_config({**parts, "training": training})).status == "done"
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")),
    ],
)
def test_the_global_generators_begin_at_a_seed_go_on_from_a_state_and_are_then_as_before(device: str) -> None:
    def draw() -> list[float]:
        return [*torch.rand(2).tolist(), *torch.rand(2, device=device).tolist()]

    place = torch.device(device)
    before = random_state(place)
    with seeded(3, place):
        first, state, second = draw(), random_state(place), draw()
    with seeded(3, place):
        assert draw() == first
    with seeded(4, place):
        assert draw() != first
        set_random_state(state, place)
        assert draw() == second
    assert all(map(torch.equal, random_state(place), before))
