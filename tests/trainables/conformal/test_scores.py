"""The nonconformity scores: numbers by hand, identities between them, and bounds."""

from __future__ import annotations

import pytest
import torch

from setsweep.trainables.conformal.how import Conformal, largest_score, nonconformity
from setsweep.trainables.conformal.scores import aps, lac, pas, prevalence_of, raps, saps
from setsweep.trainables.conformal.sets import SCORES, ScoreName

ROW = torch.tensor([[0.2, 0.5, 0.3]])  # ranks 3, 1, 2


def close(scores: torch.Tensor, *expected: float) -> bool:
    return scores.squeeze(0).tolist() == pytest.approx(list(expected), abs=1e-7)


def test_lac_is_one_minus_the_probability() -> None:
    assert close(lac(ROW), 0.8, 0.5, 0.7)


def test_aps_is_the_sum_of_the_probabilities_down_to_the_class() -> None:
    assert close(aps(ROW), 1.0, 0.5, 0.8)  # 0.5 + 0.3 + 0.2, 0.5, 0.5 + 0.3


def test_aps_with_draws_is_less_that_share_of_the_class_itself() -> None:
    assert close(aps(ROW, draws=torch.tensor([0.5])), 0.9, 0.25, 0.65)


def test_raps_adds_a_penalty_for_each_rank_beyond_the_free_ones() -> None:
    assert close(raps(ROW, penalty=0.1, free_ranks=1), 1.2, 0.5, 0.9)


def test_raps_without_a_penalty_is_aps() -> None:
    rows = torch.randn(50, 7).softmax(1)
    draws = torch.rand(50)
    assert torch.equal(raps(rows, penalty=0, free_ranks=0, draws=draws), aps(rows, draws=draws))


def test_saps_has_the_largest_probability_and_a_weight_for_each_rank_after_it() -> None:
    assert close(saps(ROW, weight=0.2), 0.9, 0.5, 0.7)
    assert close(saps(ROW, weight=0.2, draws=torch.tensor([0.25])), 0.85, 0.375, 0.65)


def test_pas_is_one_minus_probability_over_prevalence() -> None:
    assert close(pas(ROW, prevalence=torch.tensor([0.1, 0.8, 0.1])), 1 - 0.2 / 0.1, 1 - 0.5 / 0.8, 1 - 0.3 / 0.1)


def test_pas_on_balanced_classes_orders_as_lac_does() -> None:
    rows = torch.randn(50, 7).softmax(1)
    balanced = pas(rows, prevalence=prevalence_of(torch.full((7,), 30)))
    assert torch.equal(balanced.argsort(1), lac(rows).argsort(1))


def test_a_class_without_a_training_example_counts_as_having_one() -> None:
    assert prevalence_of(torch.tensor([8, 0, 2])).tolist() == [0.8, 0.1, 0.2]


def test_equal_probabilities_are_ranked_by_class() -> None:
    assert close(aps(torch.tensor([[0.25, 0.5, 0.25]])), 0.75, 0.5, 1.0)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("randomized", [False, True])
def test_no_score_is_above_its_largest_and_the_likeliest_class_suits_best(score: ScoreName, randomized: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    rows = (5 * torch.randn(200, 30, generator=generator)).softmax(1)
    how = Conformal(randomized=randomized)
    found = nonconformity(
        score, rows, how, prevalence=torch.full((30,), 1 / 30), draws=torch.rand(200, generator=generator)
    )
    assert found.max() <= largest_score(score, how, num_classes=30) + 1e-6  # probabilities are float32
    assert torch.equal(found.argmin(1), rows.argmax(1))
