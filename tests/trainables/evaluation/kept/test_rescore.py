"""Metrics from kept scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.evaluation.at_epoch import value_at
from setsweep.trainables.evaluation.kept.rescore import Rescoring, heads_asked, rescored
from setsweep.trainables.evaluation.kept.score_store import TOLERANCE, KeptScores, read_scores
from setsweep.trainables.loop import train, train_seeds

Kept = tuple[RunConfig, RunResult, KeptScores]


@pytest.fixture
def kept(make_config: Any, digits: Dataset, tmp_path: Path) -> Any:
    """``kept(loss, **training)``: a configuration, the result of its run, and the scores that it kept."""

    def make(loss: str, k: tuple[int, ...] = (2, 3), **training: Any) -> Kept:
        config = make_config(
            data={"name": "digits"},
            model={"name": "mlp", "hidden": 16},
            loss={"name": loss, "k": 2} if loss == "avgk" else {"name": loss},
            training={"epochs": 6, "optimizer": {"lr": 0.1}, **training},
            k=list(k),
        )
        result = train(config, dataset=digits, keep_scores=tmp_path / config.key)
        scores = read_scores(tmp_path / config.key)
        assert scores is not None
        return config, result, scores

    return make


def _same(one: RunResult, other: RunResult) -> None:
    assert one.metrics == pytest.approx(dict(other.metrics), abs=TOLERANCE)
    assert one.best_epoch == other.best_epoch
    assert one.hits is not None
    assert other.hits is not None
    assert one.hits.bits == other.hits.bits
    assert one.tested.keys() == other.tested.keys()
    assert one.thresholds == pytest.approx(dict(other.thresholds), rel=0.02)  # exp of 2**-11 of a distance


@pytest.mark.parametrize(
    ("loss", "training"),
    [
        ("cross_entropy", {}),
        ("cross_entropy", {"keep": "last"}),
        ("cross_entropy", {"threshold_scores": "sigmoid"}),
        ("avgk", {}),
        ("avgk", {"head": "sccp"}),
        ("ldam", {}),
        ("constrained_cardinality", {}),
    ],
)
def test_asked_as_it_was_measured_a_run_gives_what_it_recorded(loss: str, training: Any, kept: Any) -> None:
    config, result, scores = kept(loss, **training)
    _same(rescored(result, config, scores, Rescoring()), result)


def test_another_k_head_or_link_is_that_of_a_run_that_measured_it(kept: Any) -> None:
    config, result, scores = kept("avgk", keep="last")  # the last epoch is kept, whatever is best
    for how, asked in (
        (Rescoring(k=(1, 5)), kept("avgk", k=(1, 5), keep="last")),
        (Rescoring(head="sccp"), kept("avgk", keep="last", head="sccp")),
        (Rescoring(scores="softmax"), kept("avgk", keep="last", threshold_scores="softmax")),
    ):
        assert asked[1].metrics != result.metrics
        _same(rescored(result, config, scores, how), asked[1])


def test_the_better_head_is_chosen_on_validation_for_each_accuracy(kept: Any) -> None:
    config, result, scores = kept("avgk")
    best, ml, sccp = (rescored(result, config, scores, Rescoring(head=head)) for head in ("best", "ml", "sccp"))
    for name in ("top2_accuracy", "avg2_accuracy", "macro_avg3_accuracy"):
        better = ml if ml.metrics[f"val/{name}"] >= sccp.metrics[f"val/{name}"] else sccp
        assert best.metrics[f"test/{name}"] == better.metrics[f"test/{name}"]
        assert best.best_epoch[name] == better.best_epoch[name]
    assert best.thresholds.keys() == {"2", "3"}
    at = "test/top2_accuracy@avg3_accuracy"
    found = rescored(result, config, scores, Rescoring(head="best"), at_epochs=[at, "test/top2_accuracy@avg9_accuracy"])
    better = ml if ml.metrics["val/avg3_accuracy"] >= sccp.metrics["val/avg3_accuracy"] else sccp
    assert found.metrics == {**best.metrics, at: value_at(better, at)}


def test_thresholds_from_the_test_split_make_its_sets_as_large_as_asked(kept: Any) -> None:
    config, result, scores = kept("cross_entropy")
    found = rescored(result, config, scores, Rescoring(thresholds="test"))
    for k in (2, 3):
        assert found.metrics[f"test/avg{k}_set_size"] == pytest.approx(k, abs=1 / 60)
        assert found.metrics[f"val/avg{k}_accuracy"] == pytest.approx(result.metrics[f"val/avg{k}_accuracy"])


def test_a_search_keeps_scores_of_validation_alone(make_config: Any, digits: Dataset, tmp_path: Path) -> None:
    config = make_config(data={"name": "digits"}, k=[2], test=False)
    result = train(config, dataset=digits, keep_scores=tmp_path / "run")
    scores = read_scores(tmp_path / "run")
    assert scores is not None
    found = rescored(result, config, scores, Rescoring())
    assert found.metrics == pytest.approx(dict(result.metrics), abs=TOLERANCE)
    assert not any(name.startswith("test/") for name in found.metrics)


@pytest.mark.parametrize("model", [{"name": "mlp", "hidden": 8}, {"name": "small_cnn", "width": 4}])
def test_seeds_that_train_together_keep_each_its_own(
    model: Any, make_config: Any, digits: Dataset, tmp_path: Path
) -> None:
    configs = [make_config(data={"name": "digits"}, model=model, loss={"name": "avgk"}, k=[2], seed=s) for s in (1, 2)]
    folders = [tmp_path / config.key for config in configs]
    results = train_seeds(configs, datasets=[digits] * 2, keep_scores=folders)
    for config, result, folder in zip(configs, results, folders, strict=True):
        scores = read_scores(folder)
        assert scores is not None
        assert scores.heads == 2
        _same(rescored(result, config, scores, Rescoring()), result)


def test_of_a_run_that_diverges_no_scores_are_kept(make_config: Any, tmp_path: Path) -> None:
    config = make_config(training={"optimizer": {"lr": 1e38}})
    assert train(config, keep_scores=tmp_path / "run").status == "diverged"
    assert read_scores(tmp_path / "run") is None


def test_keeping_scores_changes_no_result(make_config: Any, outcome: Any, tmp_path: Path) -> None:
    assert outcome(train(make_config())) == outcome(train(make_config(), keep_scores=tmp_path / "run"))


def test_a_head_that_scores_no_classes_is_refused_and_a_single_head_is_the_one(make_config: Any) -> None:
    sizes = make_config(loss={"name": "constrained_cardinality"})
    with pytest.raises(
        ValueError, match=r"^training\.head must be ml or best with constrained_cardinality, whose other"
    ):
        heads_asked(sizes, Rescoring(head="sccp"))
    assert heads_asked(sizes, Rescoring(head="best")) == ("ml",)
    assert heads_asked(make_config(), Rescoring(head="sccp")) == ("ml",)
    two = make_config(loss={"name": "avgk"})
    assert heads_asked(two, Rescoring(head="best")) == ("ml", "sccp")
    assert heads_asked(replace(two, training=replace(two.training, head="sccp")), Rescoring()) == ("sccp",)
