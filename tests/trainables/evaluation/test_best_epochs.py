"""Which epoch each metric reports."""

from __future__ import annotations

from typing import Literal

from setsweep.trainables.evaluation.best_epochs import BestEpochs
from setsweep.trainables.evaluation.metrics import Evaluation


def _after(keep: Literal["best", "last"], *epochs: dict[str, float]) -> BestEpochs:
    """What is kept after these epochs, of which epoch n had the thresholds n / 10 and n / 100."""
    best = BestEpochs(keep)
    for number, val in enumerate(epochs, start=1):
        best.update(number, best.improved(val), val, {2: number / 10, 3: number / 100})
    return best


def test_each_accuracy_has_a_best_epoch_of_its_own() -> None:
    best = _after(
        "best",
        {"top2_accuracy": 0.5, "avg2_accuracy": 0.9},
        {"top2_accuracy": 0.8, "avg2_accuracy": 0.7},
        {"top2_accuracy": 0.6, "avg2_accuracy": 0.8},
    )
    assert best.epoch == {"top2_accuracy": 2, "avg2_accuracy": 1}
    assert best.metrics() == {"val/top2_accuracy": 0.8, "val/avg2_accuracy": 0.9}


def test_of_equal_epochs_the_first_is_the_best() -> None:
    best = _after("best", {"top2_accuracy": 0.5}, {"top2_accuracy": 0.6}, {"top2_accuracy": 0.6})
    assert best.epoch == {"top2_accuracy": 2}


def test_an_accuracy_of_0_is_better_than_none() -> None:
    assert _after("best", {"top2_accuracy": 0.0}, {"top2_accuracy": 0.0}).epoch == {"top2_accuracy": 1}


def test_the_last_epoch_is_reported_however_bad_where_it_is_asked_for() -> None:
    best = _after("last", {"top2_accuracy": 0.9, "avg2_accuracy": 0.9}, {"top2_accuracy": 0.1, "avg2_accuracy": 0.2})
    assert best.epoch == {"top2_accuracy": 2, "avg2_accuracy": 2}
    assert best.metrics() == {"val/top2_accuracy": 0.1, "val/avg2_accuracy": 0.2}
    assert best.thresholds == {"2": 0.2}


def test_a_set_size_and_a_threshold_are_those_of_the_average_k_accuracy_of_their_k() -> None:
    best = _after(
        "best",
        {"avg2_accuracy": 0.9, "avg2_set_size": 2.1, "avg3_accuracy": 0.7, "avg3_set_size": 3.1, "top2_accuracy": 0.1},
        {"avg2_accuracy": 0.8, "avg2_set_size": 2.2, "avg3_accuracy": 0.8, "avg3_set_size": 3.2, "top2_accuracy": 0.2},
    )
    metrics = best.metrics()
    assert (metrics["val/avg2_set_size"], metrics["val/avg3_set_size"]) == (2.1, 3.2)
    assert best.thresholds == {"2": 0.1, "3": 0.02}


def test_groups_of_classes_follow_the_macro_average_over_all() -> None:
    best = _after(
        "best",
        {"macro_top2_accuracy": 0.5, "macro_top2_accuracy_few": 0.9, "macro_top2_accuracy_many": 0.1},
        {"macro_top2_accuracy": 0.6, "macro_top2_accuracy_few": 0.2, "macro_top2_accuracy_many": 0.8},
    )
    assert best.epoch == {"macro_top2_accuracy": 2}
    assert (best.metrics()["val/macro_top2_accuracy_few"], best.metrics()["val/macro_top2_accuracy_many"]) == (0.2, 0.8)


def test_what_no_model_changes_is_reported_too() -> None:
    best = _after("best", {"top2_accuracy": 0.5, "classes_present": 7.0})
    best.add_test(1, Evaluation({"top2_accuracy": 0.4, "classes_present": 6.0}, {}))
    assert best.metrics() == {
        "val/top2_accuracy": 0.5,
        "val/classes_present": 7.0,
        "test/top2_accuracy": 0.4,
        "test/classes_present": 6.0,
    }


def test_test_metrics_go_to_the_criteria_whose_best_epoch_was_tested() -> None:
    best = _after("best", {"top2_accuracy": 0.5, "avg2_accuracy": 0.9}, {"top2_accuracy": 0.8, "avg2_accuracy": 0.7})
    best.add_test(1, Evaluation({"top2_accuracy": 0.1, "avg2_accuracy": 0.2, "avg2_set_size": 1.9}, {}))
    best.add_test(2, Evaluation({"top2_accuracy": 0.3, "avg2_accuracy": 0.4, "avg2_set_size": 1.8}, {}))
    test = {name: value for name, value in best.metrics().items() if name.startswith("test/")}
    assert test == {"test/top2_accuracy": 0.3, "test/avg2_accuracy": 0.2, "test/avg2_set_size": 1.9}


def test_every_test_metric_of_an_epoch_is_kept_as_long_as_some_accuracy_is_best_at_it() -> None:
    best = _after("best", {"top2_accuracy": 0.5, "avg2_accuracy": 0.9}, {"top2_accuracy": 0.8, "avg2_accuracy": 0.7})
    best.add_test(1, Evaluation({"top2_accuracy": 0.1, "avg2_accuracy": 0.2}, {}))
    best.add_test(2, Evaluation({"top2_accuracy": 0.3, "avg2_accuracy": 0.4}, {}))
    best.add_test(3, Evaluation({"top2_accuracy": 1.0, "avg2_accuracy": 1.0}, {}))  # which is the best of nothing
    first = {"test/top2_accuracy": 0.1, "test/avg2_accuracy": 0.2}
    assert best.tested == {1: first, 2: {"test/top2_accuracy": 0.3, "test/avg2_accuracy": 0.4}}
    best.update(3, ["top2_accuracy"], {"top2_accuracy": 0.9}, {})
    best.add_test(3, Evaluation({"top2_accuracy": 0.6}, {}))
    assert best.tested == {1: first, 3: {"test/top2_accuracy": 0.6}}


def test_restoring_gives_what_was_kept() -> None:
    best = _after("best", {"top2_accuracy": 0.5, "avg2_accuracy": 0.9})
    again = BestEpochs("best")
    again.restore(best.state())
    assert again == best
