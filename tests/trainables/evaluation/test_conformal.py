"""Conformal sets in a run: what is measured, by which examples they are calibrated, and what they leave alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.conformal.how import Conformal
from setsweep.trainables.conformal.sets import CALIBRATIONS, SCORES
from setsweep.trainables.evaluation import conformal
from setsweep.trainables.evaluation.conformal import Calibrator, ConformalMeter, Scorer, conformal_sets
from setsweep.trainables.evaluation.kept.rescore import Rescoring, rescored
from setsweep.trainables.evaluation.kept.score_store import TOLERANCE, read_scores
from setsweep.trainables.evaluation.metric import Metric, conformal_metrics
from setsweep.trainables.evaluation.predictor import SetPredictor
from setsweep.trainables.loop import train, train_seeds

EVERY = {"scores": list(SCORES), "calibrations": list(CALIBRATIONS)}


@pytest.fixture
def config(make_config: Any) -> Any:
    """``config(**fields)``: of a short run on digits."""

    def make(share: float = 0.5, **fields: Any) -> RunConfig:
        made: RunConfig = make_config(
            data={"name": "digits", "calibration": share},
            model={"name": "mlp", "hidden": 16},
            training={"epochs": 4, "optimizer": {"lr": 0.1}},
            k=[2, 3],
            **fields,
        )
        return made

    return make


def of_conformal(result: RunResult) -> dict[str, float]:
    return {name: value for name, value in result.metrics.items() if Metric.parse(name).conformal}


def test_all_that_is_measured_of_every_kind_of_sets_is_in_the_result(config: Any) -> None:
    asked = config(coverage=[0.8, 0.9], conformal=EVERY)
    found = of_conformal(train(asked))
    without_groups = [metric for metric in conformal_metrics(conformal_sets(asked)) if metric.group is None]
    assert set(found) == {metric.on("test").name for metric in without_groups}  # digits have a group of classes only


def test_groups_of_classes_have_metrics_of_their_own(config: Any) -> None:
    asked = config(coverage=0.9)
    whole = load_dataset(asked.data, seed=asked.seed)
    rare = (whole.train.labels > 4).nonzero().squeeze(1)
    few = torch.cat([(whole.train.labels == label).nonzero().squeeze(1)[:10] for label in range(5)])
    imbalanced = dataclasses.replace(whole, train=whole.train.subset(torch.cat([rare, few])))
    found = of_conformal(train(asked, dataset=imbalanced))
    assert {"test/lac90_coverage_few", "test/macro_lac90_coverage_few", "test/lac90_set_size_p50_many"} <= set(found)
    halves = [found[f"test/lac90_coverage_{group}"] for group in ("few", "many")]
    assert min(halves) <= found["test/lac90_coverage"] <= max(halves)


def test_the_rest_of_the_result_is_as_without_them(config: Any) -> None:
    plain, asked = train(config()), train(config(coverage=0.9))
    assert {name: value for name, value in asked.metrics.items() if name not in of_conformal(asked)} == plain.metrics
    assert (asked.best_epoch, asked.thresholds, asked.curves) == (plain.best_epoch, plain.thresholds, plain.curves)


def test_the_calibration_split_decides_nothing_but_conformal_sets(config: Any) -> None:
    asked = config(coverage=0.9)
    whole = load_dataset(asked.data, seed=asked.seed)
    wrong = dataclasses.replace(whole.calibration, labels=(whole.calibration.labels + 1) % 10)  # type: ignore[type-var]
    right, other = (train(asked, dataset=each) for each in (whole, dataclasses.replace(whole, calibration=wrong)))
    assert right.metrics["test/lac90_set_size"] < other.metrics["test/lac90_set_size"]
    changed = {name for name, value in right.metrics.items() if other.metrics[name] != value}
    assert changed <= set(of_conformal(right))
    assert (right.best_epoch, right.thresholds, right.curves) == (other.best_epoch, other.thresholds, other.curves)


def test_without_a_calibration_split_validation_takes_its_place(config: Any) -> None:
    asked = config(0.0, coverage=0.9)
    whole = load_dataset(asked.data, seed=asked.seed)
    same = dataclasses.replace(whole, calibration=whole.val)
    assert train(asked, dataset=whole).metrics == train(asked, dataset=same).metrics


def test_a_calibration_split_that_is_too_small_is_told_before_training(config: Any) -> None:
    message = r"^calibration examples must be >= coverage / \(1 - coverage\) = 199 for a coverage of 0\.995, got 180\.$"
    with pytest.raises(ValueError, match=message):
        train(config(coverage=[0.9, 0.995]), on_epoch=lambda *_: pytest.fail("it has trained"))


def test_they_are_read_at_the_best_epoch_of_average_k_at_the_largest_k_and_at_any_other(config: Any) -> None:
    result = train(config(coverage=0.9))
    at = result.best_epoch["avg3_accuracy"]
    assert result.metrics["test/lac90_coverage"] == result.tested[at]["test/lac90_coverage"]
    assert all("test/lac90_coverage" in tested for tested in result.tested.values())


def test_seeds_that_train_together_have_the_sets_of_each_alone(config: Any) -> None:
    configs = [config(coverage=0.8, conformal=EVERY | {"randomized": True}, seed=seed) for seed in (3, 5)]
    datasets = [load_dataset(each.data, seed=each.seed) for each in configs]
    together = train_seeds(configs, datasets=datasets)
    for each, result in zip(configs, together, strict=True):
        # weights agree to rounding, so that single images change sides: 2 of 360, and 1 in 36 of a class
        alone = of_conformal(train(each))
        found = of_conformal(result)
        assert alone["test/lac80_coverage"] == pytest.approx(found["test/lac80_coverage"], abs=0.006)
        assert alone["test/classwise_aps80_set_size"] == pytest.approx(found["test/classwise_aps80_set_size"], abs=0.1)


def test_a_search_run_has_none(config: Any) -> None:
    assert not of_conformal(train(config(coverage=0.9, test=False)))


def test_chunks_and_parts_of_them_change_nothing(config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = config(coverage=0.8, conformal=EVERY | {"randomized": True})
    generator = torch.Generator().manual_seed(0)
    rows, labels = torch.randn(200, 10, generator=generator).softmax(1), torch.arange(200) % 10
    scorer, counts = Scorer(asked, torch.full((10,), 30)), torch.full((10,), 30)

    def measured(size: int) -> dict[Metric, float]:
        calibrator = Calibrator(conformal_sets(asked), scorer, 200)
        for chunk, own in zip(rows.split(size), labels.split(size), strict=True):
            calibrator.add(chunk, own)
        meter = ConformalMeter(calibrator.finish(), scorer, counts, 200)
        for chunk, own in zip(rows.split(size), labels.split(size), strict=True):
            meter.add(chunk, own)
        return meter.finish()

    whole = measured(200)
    # the examples are their own calibration here: the set of the one that gives the threshold holds its label
    held = [value for metric, value in whole.items() if metric.name in ("lac80_coverage", "pas80_coverage")]
    assert held == [161 / 200, 161 / 200]  # ceil(201 x 0.8) of 200
    monkeypatch.setattr(conformal, "NUMBERS", 30)  # three rows
    assert measured(64) == whole


@pytest.mark.parametrize("randomized", [False, True])
def test_kept_scores_give_them_again_and_others_too(config: Any, tmp_path: Path, randomized: bool) -> None:
    asked = config(coverage=[0.8, 0.9], conformal=EVERY | {"randomized": randomized})
    result = train(asked, keep_scores=tmp_path / "asked")
    plain = train(config(), keep_scores=tmp_path / "plain")
    how = Rescoring(coverage=asked.coverage, conformal=Conformal(**vars(asked.conformal)))
    for kept, before, way in (("asked", result, Rescoring()), ("plain", plain, how)):
        scores = read_scores(tmp_path / kept)
        assert scores is not None
        again = rescored(before, asked if kept == "asked" else config(), scores, way)
        found, expected = of_conformal(again), of_conformal(result)
        assert found.keys() == expected.keys()
        # from scores that were kept for other metrics, single images of 360 change sides
        limits = {name: TOLERANCE if kept == "asked" else 0.5 if "set_size" in name else 0.02 for name in found}
        assert not [name for name, limit in limits.items() if abs(found[name] - expected[name]) > limit]


def test_a_served_model_answers_with_the_sets_that_were_measured(config: Any, tmp_path: Path) -> None:
    asked = config(coverage=[0.8, 0.9], conformal=EVERY)
    dataset: Dataset = load_dataset(asked.data, seed=asked.seed)
    result = train(asked, dataset=dataset, keep_model=KeepModel(folder=tmp_path, criterion="avg3_accuracy"))
    served, images = SetPredictor(tmp_path), dataset.test.inputs.numpy()  # type: ignore[union-attr]
    for each in conformal_sets(asked):
        sets = served.predict(images, {"sets": "conformal", **vars(each)})
        assert sets.sum(1).mean() == pytest.approx(result.metrics[f"test/{each.name}_set_size"])  # type: ignore[union-attr]
        held = sets[range(len(images)), dataset.test.labels.numpy()].mean()  # type: ignore[call-overload]
        assert held == pytest.approx(result.metrics[f"test/{each.name}_coverage"])
    assert served.defaults == {
        "k": 3, "sets": "avg", "names": False, "coverage": 0.8, "score": "lac", "calibration": "marginal"
    }  # fmt: skip
    for params, message in (
        ({"coverage": 0.7}, r"^coverage must be one of 0\.8, 0\.9, got 0\.7\.$"),
        ({"score": "thr"}, r"^score must be one of lac, aps, raps, saps, pas, got 'thr'\.$"),
        ({"calibration": "none"}, r"^calibration must be one of marginal, classwise, clustered, interpolated, got 'n"),
        ({"sets": "all"}, r"^sets must be one of top, avg, conformal, got 'all'\.$"),
    ):
        with pytest.raises(ValueError, match=message):
            served.predict(images, {"sets": "conformal", **params})


def test_a_served_model_of_a_run_without_conformal_sets_says_so(config: Any, tmp_path: Path) -> None:
    train(config(), keep_model=KeepModel(folder=tmp_path, criterion="avg3_accuracy"))
    with pytest.raises(ValueError, match=r"^sets must be top or avg, as the run was measured by no conformal sets"):
        SetPredictor(tmp_path).predict([], {"sets": "conformal"})  # type: ignore[arg-type]


def test_randomized_sets_of_a_served_model_are_the_same_at_every_call(config: Any, tmp_path: Path) -> None:
    asked = config(coverage=0.9, conformal={"scores": "aps", "randomized": True})
    dataset = load_dataset(asked.data, seed=asked.seed)
    train(asked, dataset=dataset, keep_model=KeepModel(folder=tmp_path, criterion="avg3_accuracy"))
    served, images = SetPredictor(tmp_path), dataset.test.inputs.numpy()  # type: ignore[union-attr]
    first, again = (served.predict(images, {"sets": "conformal"}) for _ in range(2))
    assert (first == again).all()  # type: ignore[union-attr]
