"""Metrics of one's own: measured on whole splits, read at their best epochs, tried before training."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.own_metrics import check_metrics, measured_by
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.best_epochs import BestEpochs
from setsweep.trainables.evaluation.metric import Metric, users_metric
from setsweep.trainables.evaluation.metrics import evaluate
from setsweep.trainables.loop import train

MODULE = """
import torch

def share(scores, labels):
    return (scores.argmax(1) == labels).double()

def shortfall(scores, labels):
    return -float((scores.argmax(1) != labels).double().mean())

def nothing(scores, labels):
    return None

def table(scores, labels):
    return scores

def infinite(scores, labels):
    return torch.tensor(float("inf"))

def huge(scores, labels):
    return 1e101

def spoils(scores, labels):
    return scores.zero_().sum()

def breaks(scores, labels):
    raise ArithmeticError("of its own")
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "counted.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("counted", None)


def _config(*metrics: str, **changes: object) -> RunConfig:
    training = {"epochs": 3, "batch_size": 64, "device": "cpu", "optimizer": {"lr": 0.5}}
    plain = {"data": {"name": "digits"}, "model": {"name": "linear"}, "loss": {"name": "cross_entropy"}, "k": [1]}
    return complete_config(
        {**plain, "training": training, "metrics": [f"counted:{name}" for name in metrics], **changes}
    )


def test_its_name_is_its_function_after_the_split() -> None:
    metric = Metric.parse("test/ours.counted:share@top1_accuracy")
    assert (metric.own, metric.split, metric.quantity) == ("ours.counted:share", "test", "own")
    assert metric.name == "test/ours.counted:share@top1_accuracy"
    assert metric.more_is_better
    assert not metric.is_accuracy
    own = users_metric("ours.counted:share", split="val")
    assert own.criterion == own.on(None)
    assert Metric.find("test/ours.counted") is None


def test_whatever_the_chunks_it_sees_the_whole_split() -> None:
    scores, labels = torch.randn(9, 4), torch.tensor([0, 1, 2, 3, 0, 1, 2, 3, 0])
    own = {"rows": lambda given, of: torch.tensor(float(len(given) * len(of)))}
    chunks = [(scores[:5], labels[:5]), (scores[5:], labels[5:])]
    found = evaluate(chunks, num_classes=4, ks=[1], probabilities="softmax", own=own)
    assert found.metrics["rows"] == 81.0


def test_an_accuracy_written_by_oneself_is_that_of_the_table_at_the_same_epochs() -> None:
    result = train(_config("share", "shortfall"))
    for split in ("val", "test"):
        assert result.metrics[f"{split}/counted:share"] == pytest.approx(result.metrics[f"{split}/top1_accuracy"])
        assert result.metrics[f"{split}/counted:shortfall"] == pytest.approx(
            result.metrics[f"{split}/top1_accuracy"] - 1
        )
    assert result.best_epoch["counted:shortfall"] == result.best_epoch["top1_accuracy"]
    assert result.curves["val/counted:share"] == pytest.approx(result.curves["val/top1_accuracy"])


def test_the_best_epoch_of_a_negative_metric_is_where_it_is_largest() -> None:
    best = BestEpochs("best")
    for epoch, value in ((1, -5.0), (2, -3.0), (3, -4.0)):
        val = {"counted:share": value}
        best.update(epoch, best.improved(val), val, {})
    assert best.epoch == {"counted:share": 2}


def test_metrics_make_another_run_and_none_make_the_one_that_it_was() -> None:
    with_none = _config()
    assert "metrics" not in with_none.to_dict()
    assert with_none.key != _config("share").key
    assert RunConfig.from_dict(_config("share").to_dict()) == _config("share")
    assert _config("share").with_seed(3).key == _config("share", seed=3).key


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "counted:nothing must give one finite number, or one for each example, got None."),
        (
            "table",
            "counted:table must give one finite number, or one for each example, got a tensor of shape (16, 10).",
        ),
        ("infinite", "counted:infinite must give one finite number, or one for each example, got inf."),
        ("huge", "counted:huge must give one finite number, or one for each example, got 1e+101."),
        ("spoils", "counted:spoils must leave scores and labels as they are, got others after the call."),
        ("breaks", "counted:breaks must take scores and labels, got ArithmeticError: of its own"),
    ],
)
def test_what_is_no_metric_is_told_before_training(name: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_metrics(_config(name), 10)
    assert str(caught.value) == said


def test_numbers_of_any_kind_are_numbers() -> None:
    scores, labels = torch.zeros(2, 3), torch.tensor([0, 1])
    functions = {"int": lambda s, y: 3, "numpy": lambda s, y: s.numpy().sum(), "bools": lambda s, y: y == 0}
    assert measured_by(functions, scores, labels) == {"int": 3.0, "numpy": 0.0, "bools": 0.5}
