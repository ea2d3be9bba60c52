"""What kept scores tell beyond means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.evaluation.kept.rescore import Rescoring
from setsweep.trainables.evaluation.kept.score_store import read_scores
from setsweep.trainables.evaluation.kept.score_views import ScoreView, view
from setsweep.trainables.loop import train


@pytest.fixture
def by_hand(make_config: Any) -> ScoreView:
    """Three classes with 10, 50 and 200 training images; logits of probabilities that are easily added up."""
    probabilities = torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]])
    return ScoreView(
        calibration=probabilities.log(),
        test=probabilities.log(),
        labels=torch.tensor([0, 1, 2, 1]),
        train_class_counts=torch.tensor([10, 50, 200]),
        config=make_config(),
        epoch=3,
    )


def test_sets_are_counted_by_their_size_for_all_and_for_each_group(by_hand: ScoreView) -> None:
    # the 4th and the 5th largest of all 12 are both 0.4, and so is the threshold between them
    assert by_hand.thresholds([1])[1] == pytest.approx(0.4, rel=1e-6)
    assert by_hand.set_sizes("avg1").tolist() == [1, 2, 1, 1]
    histograms = {group: counts.tolist() for group, counts in by_hand.size_histograms("avg1").items()}
    assert histograms == {None: [0, 3, 1], "few": [0, 1], "medium": [0, 1, 1], "many": [0, 1]}


def test_sets_of_exactly_k_classes_are_all_of_that_size(by_hand: ScoreView) -> None:
    histograms = {group: counts.tolist() for group, counts in by_hand.size_histograms("top2").items()}
    assert histograms == {None: [0, 0, 4], "few": [0, 0, 1], "medium": [0, 0, 2], "many": [0, 0, 1]}


def test_classes_are_told_with_their_examples_and_a_class_without_any_has_no_accuracy(by_hand: ScoreView) -> None:
    examples, accuracy = by_hand.per_class("top", 1)
    assert examples.tolist() == [1, 2, 1]
    assert accuracy.tolist() == [1.0, 0.5, 1.0]  # of the two of the second class one has another above it
    without = ScoreView(**{**vars(by_hand), "labels": torch.tensor([0, 0, 2, 2])})
    assert without.per_class("top", 1)[1].isnan().tolist() == [False, True, False]


def test_hits_of_both_rules_grow_with_k(by_hand: ScoreView) -> None:
    top, avg = (by_hand.hits(rule, [1, 2]) for rule in ("top", "avg"))
    assert [top[k].tolist() for k in (1, 2)] == [[True, False, True, True], [True] * 4]
    assert [avg[k].tolist() for k in (1, 2)] == [[True, True, True, True], [True] * 4]


def test_a_view_is_of_the_best_epoch_and_the_thresholds_of_the_split_asked_for(
    make_config: Any, digits: Dataset, tmp_path: Path
) -> None:
    config = make_config(data={"name": "digits"}, loss={"name": "avgk"}, k=[2], training={"epochs": 6})
    result = train(config, dataset=digits, keep_scores=tmp_path / "run")
    kept = read_scores(tmp_path / "run")
    assert kept is not None
    found = view(config, kept, Rescoring(), "avg2_accuracy")
    assert found.epoch == result.best_epoch["avg2_accuracy"]
    hits = found.hits("avg", [2])[2].double().mean().item()
    assert hits == pytest.approx(result.metrics["test/avg2_accuracy"], abs=1e-4)
    own = view(config, kept, Rescoring(thresholds="test"), "avg2_accuracy")
    assert own.set_sizes("avg2").double().mean().item() == pytest.approx(2, abs=1 / 60)
    other = view(config, kept, Rescoring(head="sccp"), "avg2_accuracy")
    assert not torch.equal(other.test, found.test)
    with pytest.raises(ValueError, match=r"^at must be one of avg2_accuracy, .*, got 'avg3_accuracy'\.$"):
        view(config, kept, Rescoring(), "avg3_accuracy")


def test_a_view_needs_scores_of_the_test_split(make_config: Any, digits: Dataset, tmp_path: Path) -> None:
    config = make_config(data={"name": "digits"}, k=[2], test=False)
    train(config, dataset=digits, keep_scores=tmp_path / "run")
    kept = read_scores(tmp_path / "run")
    assert kept is not None
    with pytest.raises(ValueError, match=r"^scores of the test split must be kept, got those of validation alone in "):
        view(config, kept, Rescoring(), "top2_accuracy")
