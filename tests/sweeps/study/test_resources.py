"""What a study says of the resources of its runs."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.study.errors import StudyError
from setsweep.sweeps.study.study import Resources


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{}", Resources(cpus=1, gpus=0, seeds_per_worker=1)),
        ("{cpus: 4, gpus: 0.25}", Resources(cpus=4, gpus=0.25)),
        ("{gpus: 2}", Resources(gpus=2)),
        ("{gpus: auto, seeds_per_worker: auto}", Resources(gpus="auto", seeds_per_worker="auto")),
        ("{seeds_per_worker: 8}", Resources(seeds_per_worker=8)),
    ],
)
def test_resources_are_numbers_or_measured(read_text: Any, example: str, given: str, expected: Resources) -> None:
    assert read_text(example.replace("{cpus: 1, gpus: 0}", given)).resources == expected


def test_a_run_on_cuda_must_be_given_a_gpu(read_text: Any, example: str) -> None:
    on_cuda = example.replace("epochs: 10,", "epochs: 10, device: cuda,")
    with pytest.raises(StudyError, match=r"resources.gpus: must be > 0 or auto where training.device is cuda, got 0."):
        read_text(on_cuda)
    assert read_text(on_cuda.replace("gpus: 0", "gpus: 0.5")).resources.gpus == 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{gpus: -1}", "resources.gpus: must be >= 0 or auto, got -1."),
        ("{gpus: 1.5}", "resources.gpus: must be <= 1 or whole or auto, got 1.5."),
        ("{gpus: some}", "resources.gpus: must be a number >= 0 or auto, got 'some'."),
        ("{seeds_per_worker: 0}", "resources.seeds_per_worker: must be >= 1 or auto, got 0."),
        ("{seeds_per_worker: 1.5}", "resources.seeds_per_worker: must be a whole number >= 1 or auto, got 1.5."),
        ("{cpus: auto}", "resources.cpus: must be a number > 0, got 'auto'."),
        ("{seed_per_worker: 2}", "Did you mean 'seeds_per_worker'?"),
    ],
)
def test_what_is_neither_is_refused(read_text: Any, example: str, given: str, message: str) -> None:
    with pytest.raises(StudyError) as refused:
        read_text(example.replace("{cpus: 1, gpus: 0}", given))
    assert message in str(refused.value)
