from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from setsweep.trainables.evaluation.thresholds import GivenThresholds, ThresholdSelection, at_least

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "metrics.json").read_text())


def plain_threshold(probabilities, k):
    """Algorithm 1 as it is printed: flatten, sort, mean of two neighbours."""
    largest = probabilities.flatten().sort(descending=True).values.double()
    return float(largest[k * len(probabilities) - 1] + largest[k * len(probabilities)]) / 2


def select(probabilities, ks, chunk=None, num_examples=None):
    selection = ThresholdSelection(ks, probabilities.shape[1], num_examples)
    for part in probabilities.split(chunk or len(probabilities)):
        selection.add(part)
    return selection.finish()


@pytest.mark.parametrize("case", GOLDEN["avgk_threshold"], ids=lambda case: f"{case['name']}-{case['K']}")
def test_thresholds_and_set_sizes_are_the_golden_ones(case):
    probabilities, k = torch.tensor(case["P"], dtype=torch.float64), case["K"]
    thresholds, sizes = select(probabilities, [k])
    if case["lambda_val"] is None:  # k is the number of classes, where Algorithm 1 is undefined
        assert thresholds == {k: -math.inf}
        assert sizes == {k: probabilities.numel()}
        return
    assert thresholds[k] == pytest.approx(case["lambda_val"], rel=1e-12)
    assert at_least(probabilities, thresholds[k]).sum(1).tolist() == case["set_sizes_ge"]
    assert sizes[k] / len(probabilities) == pytest.approx(case["mean_set_size_ge"])
    if "P_test" in case:
        given = GivenThresholds(thresholds)
        given.add(torch.tensor(case["P_test"], dtype=torch.float64))
        assert given.finish()[1][k] == sum(case["test_set_sizes_ge"])


@pytest.mark.parametrize("chunk", [1, 7, 100])
@pytest.mark.parametrize("num_examples", [None, 100, 130])
def test_chunks_and_bounded_memory_find_what_sorting_everything_finds(chunk, num_examples):
    probabilities = torch.randn(100, 20, generator=torch.Generator().manual_seed(0)).softmax(1)
    ks = [1, 2, 5, 19, 20]
    thresholds, sizes = select(probabilities, ks, chunk, num_examples)
    assert thresholds == {k: plain_threshold(probabilities, k) for k in ks[:-1]} | {20: -math.inf}
    assert sizes == {k: 100 * k for k in ks}


@pytest.mark.parametrize("chunk", [3, 100])
def test_tied_probabilities_that_were_dropped_still_count_in_the_set_size(chunk):
    probabilities = torch.randint(1, 4, (100, 6), generator=torch.Generator().manual_seed(0)).float() / 4
    for k in (1, 2, 4):
        thresholds, sizes = select(probabilities, [k], chunk, 100)
        assert thresholds[k] == plain_threshold(probabilities, k)
        assert sizes[k] == (probabilities >= thresholds[k]).sum()


def test_the_selection_keeps_a_bounded_number_of_probabilities():
    selection = ThresholdSelection([1, 2], 50, num_examples=1000)
    generator = torch.Generator().manual_seed(0)
    for _ in range(100):
        selection.add(torch.rand(10, 50, generator=generator))
        assert selection.num_kept <= 2 * 2001 + 500


def test_nan_is_in_no_set_and_takes_no_place():
    probabilities = torch.tensor([[0.7, 0.2, 0.1], [torch.nan, torch.nan, torch.nan]])
    thresholds, sizes = select(probabilities, [1, 2, 3])
    assert thresholds == {1: pytest.approx(0.15), 2: -math.inf, 3: -math.inf}
    assert sizes == {1: 2, 2: 3, 3: 3}


def test_a_threshold_between_two_neighbouring_floats_separates_them():
    low = torch.tensor(0.3)
    high = low.nextafter(torch.tensor(1.0))
    threshold = (low.item() + high.item()) / 2
    assert at_least(torch.stack([low, high]), threshold).tolist() == [False, True]


def test_more_rows_than_announced_are_refused():
    with pytest.raises(ValueError, match=r"^num_examples must be the number of rows, 100, and >= 1, got 99\.$"):
        select(torch.rand(100, 5), [1], num_examples=99)
