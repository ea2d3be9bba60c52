"""Sets of the k classes with the largest scores."""

from __future__ import annotations

import pytest
import torch

from setsweep.trainables.evaluation.metrics import label_ranks
from setsweep.trainables.evaluation.sets import top_sets


@pytest.mark.parametrize("k", [1, 3, 7])
def test_a_label_is_in_its_set_exactly_if_its_rank_is_below_k(k: int) -> None:
    scores = torch.randn(50, 7, generator=torch.Generator().manual_seed(0)).round(decimals=0)  # many are equal
    sets = top_sets(scores, k)
    for label in range(7):
        ranks = label_ranks(scores, torch.full((50,), label))
        assert torch.equal(sets[:, label], ranks < k)


def test_of_equal_scores_the_lowest_index_is_in_the_set() -> None:
    assert top_sets(torch.zeros(1, 4), 2).tolist() == [[True, True, False, False]]


def test_a_row_with_nan_has_the_empty_set() -> None:
    scores = torch.tensor([[1.0, torch.nan, 3.0], [1.0, 2.0, 3.0]]).half()
    assert top_sets(scores, 2).tolist() == [[False, False, False], [False, True, True]]
