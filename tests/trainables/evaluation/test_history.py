"""What one seed has measured: its curves, the weights it keeps, and when it has nothing more to measure."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch

from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.metrics import Evaluation


def _history(make_config: Any, criterion: str | None = None, **changes: Any) -> History:
    training = {"epochs": 10} | changes.pop("training", {})
    return History(make_config(k=[2], training=training, **changes), criterion)


def _add(history: History, epoch: int, top2: float, avg2: float) -> bool:
    """Add an epoch, whose weights and threshold are its number; whether its weights were asked for."""
    asked = []

    def weights() -> dict[str, torch.Tensor]:
        asked.append(epoch)
        return {"weight": torch.tensor(float(epoch))}

    metrics = {"top2_accuracy": top2, "avg2_accuracy": avg2, "avg2_set_size": 2.0}
    history.add(epoch, 10.0 - epoch, Evaluation(metrics, {2: epoch / 100}), weights)
    return bool(asked)


def test_curves_have_the_metrics_of_each_epoch_by_their_full_names(make_config: Any) -> None:
    history = _history(make_config)
    _add(history, 2, 0.5, 0.6)
    _add(history, 4, 0.7, 0.5)
    assert history.epochs == [2, 4]
    assert history.curves == {
        "train/loss": [8.0, 6.0],
        "val/top2_accuracy": [0.5, 0.7],
        "val/avg2_accuracy": [0.6, 0.5],
        "val/avg2_set_size": [2.0, 2.0],
    }
    assert history.final_metrics() == {
        "val/top2_accuracy": 0.7,
        "val/avg2_accuracy": 0.6,
        "val/avg2_set_size": 2.0,
        "train/loss": 6.0,
    }


def test_the_weights_of_epochs_that_no_metric_reports_any_more_are_dropped(make_config: Any) -> None:
    history = _history(make_config)
    kept = []
    for epoch, top2, avg2 in ((1, 0.5, 0.5), (2, 0.6, 0.4), (3, 0.4, 0.4), (4, 0.5, 0.6), (5, 0.7, 0.5)):
        assert _add(history, epoch, top2, avg2) == (epoch != 3)
        kept.append(sorted(history.kept))
    assert kept == [[1], [1, 2], [1, 2], [2, 4], [4, 5]]
    assert {epoch: thresholds for epoch, (thresholds, _) in history.kept.items()} == {4: {2: 0.04}, 5: {2: 0.05}}


@pytest.mark.parametrize(("keep", "epochs"), [("best", [1, 2]), ("last", [3])])
@pytest.mark.parametrize(("test", "criterion"), [(True, None), (False, "top2_accuracy"), (False, None)])
def test_weights_are_copied_only_where_something_is_made_of_them(
    keep: str, epochs: list[int], test: bool, criterion: str | None, make_config: Any
) -> None:
    history = _history(make_config, criterion, test=test, training={"keep": keep, "epochs": 3})
    asked = [epoch for epoch, top2 in ((1, 0.5), (2, 0.6), (3, 0.4)) if _add(history, epoch, top2, top2)]
    assert asked == (epochs if test or criterion else [])


def test_the_saved_model_is_that_of_the_criterions_best_epoch_with_its_thresholds(make_config: Any) -> None:
    history = _history(make_config, "avg2_accuracy")
    for epoch, top2, avg2 in ((1, 0.5, 0.5), (2, 0.6, 0.7), (3, 0.7, 0.6)):
        _add(history, epoch, top2, avg2)
    weights, thresholds, conformal = history.saved_model()
    assert (weights["weight"].item(), thresholds, conformal) == (2.0, {2: 0.02}, {})


def test_a_criterion_that_is_not_measured_is_refused(make_config: Any) -> None:
    known = "top2_accuracy, avg2_accuracy, macro_top2_accuracy, macro_avg2_accuracy"
    with pytest.raises(ValueError) as caught:
        _history(make_config, "avg3_accuracy")
    assert str(caught.value) == f"keep_model.criterion must be one of {known}, got 'avg3_accuracy'."


def test_patience_ends_after_so_many_evaluations_in_a_row_that_improve_nothing(make_config: Any) -> None:
    history = _history(make_config, training={"patience": 2})
    going = []
    for epoch, top2, avg2 in ((1, 0.5, 0.5), (2, 0.5, 0.5), (3, 0.4, 0.6), (4, 0.5, 0.6), (5, 0.4, 0.5)):
        _add(history, epoch, top2, avg2)
        going.append(history.going)
    assert going == [True, True, True, True, False]
    assert (history.stopped, history.reason) == (5, None)


def test_patience_that_ends_with_the_training_stops_nothing(make_config: Any) -> None:
    history = _history(make_config, training={"patience": 1, "epochs": 2})
    _add(history, 1, 0.5, 0.5)
    _add(history, 2, 0.5, 0.5)
    assert history.stopped is None


@pytest.mark.parametrize("loss", [math.inf, -math.inf, math.nan])
def test_a_loss_that_is_not_finite_is_a_divergence_and_the_first_reason_stays(loss: float, make_config: Any) -> None:
    history = _history(make_config)
    history.check_loss(1, 2.5)
    history.check_weights(1, finite=True)
    assert history.going
    history.check_loss(3, loss)
    history.check_weights(4, finite=False)
    assert history.reason == f"training loss must be finite, got {loss} in epoch 3."
    assert not history.going


def test_weights_that_are_not_finite_are_a_divergence(make_config: Any) -> None:
    history = _history(make_config)
    history.check_weights(4, finite=False)
    assert history.reason == "weights must be finite, got inf or nan in epoch 4."


def test_a_seed_that_has_stopped_diverges_no_more(make_config: Any) -> None:
    history = _history(make_config, training={"patience": 1})
    _add(history, 1, 0.5, 0.5)
    _add(history, 2, 0.5, 0.5)
    history.check_loss(3, math.nan)
    history.check_weights(3, finite=False)
    assert (history.stopped, history.reason) == (2, None)


def test_a_restored_history_goes_on_where_the_saved_one_was(make_config: Any) -> None:
    saved, restored = (_history(make_config, "top2_accuracy", training={"patience": 2}) for _ in range(2))
    for epoch, top2 in ((1, 0.5), (2, 0.5)):
        _add(saved, epoch, top2, top2)
    restored.restore(saved.state())
    for history in (saved, restored):
        _add(history, 3, 0.4, 0.4)
    assert restored.stopped == saved.stopped == 3
    assert restored.state() == saved.state()
    plain = {name: value for name, value in saved.state().items() if name != "kept"}
    assert json.loads(json.dumps(plain)) == plain
