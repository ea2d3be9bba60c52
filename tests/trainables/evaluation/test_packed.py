"""Hits in one bit an image, and the name of the images that they are of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from setsweep.data.dataset import Dataset, Split
from setsweep.data.image_files import ImageFiles
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.packed import order_of, packed
from setsweep.trainables.loop import train, train_seeds


@pytest.mark.parametrize("images", [1, 7, 8, 9, 360])
def test_bits_are_packed_as_numpy_does(images: int) -> None:
    hits = torch.rand(images, generator=torch.Generator().manual_seed(images)) < 0.5
    assert packed(hits) == np.packbits(hits.numpy()).tobytes()


def test_the_name_is_that_of_the_same_images_with_the_same_labels_in_the_same_order(digits: Dataset) -> None:
    split = digits.test
    backwards = Split(split.inputs.flip(0), split.labels.flip(0))  # type: ignore[union-attr]
    others = [backwards, Split(split.inputs, split.labels.flip(0)), digits.val, replace(split, labels=split.labels[:9])]
    assert order_of(Split(split.inputs.clone(), split.labels.clone())) == order_of(split)  # type: ignore[union-attr]
    assert len({order_of(split), *map(order_of, others)}) == 1 + len(others)


def test_files_are_named_wherever_their_folder_is() -> None:
    def files(folder: str, *names: str) -> Split:
        return Split(ImageFiles(folder, np.array(names, dtype="S5"), 32), torch.tensor([0, 1]))

    assert order_of(files("/here", "a.png", "b.png")) == order_of(files("/there", "a.png", "b.png"))
    assert order_of(files("/here", "a.png", "b.png")) != order_of(files("/here", "b.png", "a.png"))


def test_hits_of_a_run_add_up_to_its_accuracies_and_survive_the_record(make_config: Any, digits: Dataset) -> None:
    config = make_config(data={"name": "digits"}, model={"name": "mlp", "hidden": 8}, k=[1, 3])
    result = train(config, dataset=digits)
    assert result.hits is not None
    assert result.hits.bits.keys() == {"top1_accuracy", "avg1_accuracy", "top3_accuracy", "avg3_accuracy"}
    for name, bits in result.hits.bits.items():
        right = np.unpackbits(np.frombuffer(bits, np.uint8), count=result.hits.images)
        assert right.mean() == pytest.approx(result.metrics[f"test/{name}"], abs=1e-12)
    assert RunResult.from_dict(result.to_dict()).hits == result.hits


def test_seeds_that_train_together_have_hits_of_their_own_on_the_same_images(seed_group: Any) -> None:
    configs, datasets = seed_group(2, data={"name": "digits"}, model={"name": "mlp", "hidden": 8})
    one, other = (result.hits for result in train_seeds(configs, datasets=datasets))
    assert one.order == other.order
    assert one.bits != other.bits


def test_a_run_of_a_search_has_none(make_config: Any, digits: Dataset) -> None:
    result = train(make_config(data={"name": "digits"}, test=False), dataset=digits)
    assert result.hits is None
    assert "hits" not in result.to_dict()
