"""Scores on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.kept.score_store import (
    INDEX,
    ScoreWriter,
    fitting_precision,
    metrics_of_head,
    most_bytes,
    read_scores,
)
from setsweep.trainables.evaluation.kept.scored_splits import Splits, Truth


@pytest.fixture
def config(make_config: Any) -> RunConfig:
    made: RunConfig = make_config(data={"name": "digits"}, k=[2, 3])
    return made


def scores_of(digits: Dataset, *, heads: int = 1, spread: float = 3.0) -> Splits:
    draws = torch.Generator().manual_seed(0)

    def some(labels: torch.Tensor) -> torch.Tensor:
        noise = torch.randn(len(labels), 10, generator=draws)
        return spread * (noise + torch.nn.functional.one_hot(labels, 10))

    return {
        "val": tuple(some(digits.val.labels) for _ in range(heads)),
        "test": tuple(some(digits.test.labels) for _ in range(heads)),
    }


def test_what_is_written_is_read_again_to_the_precision_that_it_is_kept_in(
    config: RunConfig, digits: Dataset, tmp_path: Path
) -> None:
    scores = scores_of(digits, heads=2)
    writer = ScoreWriter(tmp_path / "run", config, digits)
    writer.add(3, scores)
    writer.add(7, scores)
    writer.add(3, scores_of(digits, heads=2, spread=1.0))  # which is written already
    writer.finish()
    kept = read_scores(tmp_path / "run")
    assert kept is not None
    assert (kept.heads, list(kept.precisions)) == (2, [3, 7])
    again = kept.epoch(3)
    for split in ("val", "test"):
        for one, other in zip(scores[split], again[split], strict=True):
            below = other.amax(1, keepdim=True) - other
            assert other.dtype == torch.float32
            assert ((one - other).abs() <= below * 2**-11 + 1e-6).all()  # float16 has 10 bits after the first
            assert torch.equal(one.argmax(1), other.argmax(1))
    assert torch.equal(kept.truth.labels["test"], digits.test.labels)
    assert kept.truth.train_class_counts.sum() == 90


def test_scores_are_whole_once_the_index_is_there_and_old_ones_go(
    config: RunConfig, digits: Dataset, tmp_path: Path
) -> None:
    writer = ScoreWriter(tmp_path / "run", config, digits)
    writer.add(1, scores_of(digits))
    assert read_scores(tmp_path / "run") is None
    writer.finish()
    assert read_scores(tmp_path / "run") is not None
    ScoreWriter(tmp_path / "run", config, digits)
    assert read_scores(tmp_path / "run") is None
    assert not (tmp_path / "run").exists()


def test_runs_on_the_same_data_share_their_labels(config: RunConfig, digits: Dataset, tmp_path: Path) -> None:
    other = Dataset(digits.val, digits.val, digits.test, num_classes=10)
    for name, dataset in (("a", digits), ("b", digits), ("c", other)):
        writer = ScoreWriter(tmp_path / name, config, dataset)
        writer.add(1, scores_of(digits))
        writer.finish()
    assert len(list(tmp_path.glob("labels-*.pt"))) == 2
    assert json.loads((tmp_path / "a" / INDEX).read_text())["truth"] == Truth.of(digits).name


@pytest.mark.parametrize(("spread", "precision"), [(3.0, "float16"), (1e5, "bfloat16")])
def test_the_first_precision_is_taken_that_changes_no_metric(
    config: RunConfig, digits: Dataset, spread: float, precision: str
) -> None:
    # beyond 65,504 float16 is infinite: sums of such scores are NaN, and all metrics of the row with them
    scores = scores_of(digits, spread=spread)
    found = fitting_precision(scores, Truth.of(digits), config)
    assert found == precision


@pytest.mark.parametrize(("lead", "precision"), [(1e-3, "fixed16"), (1e-5, "float32")])
def test_a_lead_too_small_for_floats_of_16_bits_is_kept_by_steps_or_in_single_precision(
    config: RunConfig, digits: Dataset, lead: float, precision: str
) -> None:
    # at a distance of 10 float16 has steps of 0.008, fixed16 of 10 / 65,535 = 1.5e-4; of equals the first class leads
    scores: Splits = {}
    for split in ("val", "test"):
        labels = getattr(digits, split).labels
        rows = torch.arange(len(labels))
        near = torch.full((len(labels), 10), -10.0)
        near[rows, (labels + 1) % 10] = 0.0
        near[rows, labels] += lead
        scores[split] = (near,)
    truth = Truth.of(digits)
    assert metrics_of_head(scores, 0, truth, config)["test/top2_accuracy"] == 1
    assert fitting_precision(scores, truth, config) == precision


def test_the_most_that_scores_take_counts_every_accuracy_head_and_example(make_config: Any, digits: Dataset) -> None:
    def of(**changes: Any) -> int:
        return most_bytes(make_config(data={"name": "digits"}, k=[2, 3], **changes), digits)

    # 4 accuracies of each k, each with an epoch, 60 + 60 rows of 10 scores of 4 bytes
    assert of(training={"epochs": 50}) == 8 * 120 * 10 * 4
    assert of(training={"epochs": 3}) == 3 * 120 * 10 * 4
    assert of(training={"epochs": 50, "keep": "last"}) == 120 * 10 * 4
    assert of(loss={"name": "avgk"}, training={"epochs": 3}) == 2 * 3 * 120 * 10 * 4
    assert of(loss={"name": "constrained_cardinality"}, training={"epochs": 3}) == 3 * 120 * 10 * 4
    assert of(training={"epochs": 3}, test=False) == 3 * 60 * 10 * 4
