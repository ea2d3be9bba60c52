"""A study measured anew from the scores that it has kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from setsweep.sweeps import rescore, run_study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.sweep.rescoring_fields import asked_of
from setsweep.sweeps.sweep.result import StudyResult

STUDY: dict[str, Any] = {
    "study": "tiny",
    "data": {"name": "digits"},
    "model": {"name": "mlp", "hidden": 8},
    "training": {"epochs": 3, "batch_size": 64, "optimizer": {"lr": 0.3}},
    "k": [1, 2],
    "arms": {"cross_entropy": {}, "avgk": {"alpha": {"choice": [0.5, 2]}, "k": 2}},
    "search": {"trials": 2, "seeds": 1, "objective": "val/avg2_accuracy"},
    "confirm": {"seeds": 2},
    "compare": {"baseline": "cross_entropy", "show": ["test/top1_accuracy@avg2_accuracy"]},
    "keep": {"scores": "confirm"},
}


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage that holds the study, with the scores of its confirmation."""
    folder: Path = tmp_path_factory.mktemp("kept")
    uri = f"sqlite:///{folder}/mlflow.db"
    run_study(STUDY, storage=folder / "results", in_process=True, tracking_uri=uri, progress=False)
    return folder / "results"


def _means(result: StudyResult) -> pd.Series:
    confirmed = result.aggregates.query("stage == 'confirm'")
    return confirmed.set_index(["arm", "params.alpha", "metric"])["mean"].sort_index()


def test_the_scores_of_the_confirmation_are_kept_and_no_others(storage: Path) -> None:
    runs = pd.DataFrame(StudyResult(_read(storage), storage / "tiny").runs)
    kept = {path.parent.name for path in (storage / "tiny" / "scores").glob("*/scores.json")}
    assert kept == set(runs[runs["stage"] != "search"]["key"])


def test_asked_as_it_was_run_a_study_gives_its_own_table(storage: Path) -> None:
    ours, recorded = _means(rescore(storage, "tiny")), _means(StudyResult(_read(storage), storage / "tiny"))
    assert ours.index.equals(recorded.index)
    assert "test/top1_accuracy@avg2_accuracy" in ours.index.get_level_values("metric")
    assert (ours - recorded).abs().max() <= 1e-4  # what scores in half precision may change


def test_other_set_sizes_are_compared_image_by_image_as_well(storage: Path) -> None:
    own, other = (rescore(storage, "tiny", ["compare.images=true", f"k={k}"]).over_images for k in ([2], [4]))
    assert set(own["metric"]) == {"test/avg2_accuracy"}
    assert set(other["metric"]) == {"test/top4_accuracy"}  # the first that is compared, as the objective's is not there
    for frame in (own, other):
        assert list(frame["seed"]) == sorted(frame["seed"])
        assert ((frame["better"] - frame["worse"]) / 360 - frame["difference"]).abs().max() < 1e-12
        assert frame["p"].between(0, 1).all()


def test_other_set_sizes_are_compared_by_their_own_metrics(storage: Path) -> None:
    result = rescore(storage, "tiny", ["k=[2, 4]"])
    assert set(result.comparisons["metric"]) == {f"test/{rule}{k}_accuracy" for rule in ("top", "avg") for k in (2, 4)}
    recorded = _means(StudyResult(_read(storage), storage / "tiny"))
    ours = _means(result)
    two = ours[ours.index.get_level_values("metric") == "test/avg2_accuracy"]
    assert (two - recorded[two.index]).abs().max() <= 1e-4
    assert "Measured anew from kept scores: k = 2, 4; an accuracy that the runs did not measure" in result.report()


def test_conformal_sets_are_made_of_scores_that_were_kept_for_something_else(storage: Path) -> None:
    asked = ["coverage=[0.8, 0.9]", "conformal.scores=[lac, aps]", "compare.metrics=[test/aps90_set_size]"]
    result = rescore(storage, "tiny", asked)
    means = _means(result)
    for score in ("lac", "aps"):
        small, large = (means["cross_entropy", :, f"test/{score}{level}_set_size"].iloc[0] for level in (80, 90))
        assert small <= large
        # 360 calibration and 360 test images, two seeds: a standard deviation of 0.016 at most
        assert means["cross_entropy", :, f"test/{score}90_coverage"].iloc[0] == pytest.approx(0.9, abs=5 * 0.016)
    assert set(result.comparisons["metric"]) == {"test/aps90_set_size"}
    said = result.report()
    assert "exchangeability is broken" in said
    assert "Measured anew from kept scores: coverage = 0.8, 0.9" in said


def test_conformal_sets_that_are_asked_for_are_shown_beside_what_the_study_compares(storage: Path) -> None:
    compare = asked_of(_read(storage), ["coverage=0.9", "conformal.scores=pas"], "val")[0].compare
    assert compare.metrics == _read(storage).compare.metrics
    assert compare.show == ("test/top1_accuracy@avg2_accuracy", "test/pas90_coverage", "test/pas90_set_size")


def test_the_command_prints_any_format(storage: Path, setsweep: Callable[..., Any]) -> None:
    asked = ("--set", "training.head=best", "--thresholds", "test")
    said = setsweep("rescore", "tiny", "--storage", storage, *asked, "--format", "json")
    assert (said.code, said.err) == (0, "")
    found = [each for each in json.loads(said.out)["aggregates"] if each["metric"] == "test/avg2_set_size"]
    assert found
    for each in found:  # 360 test images, some of equal probability
        assert each["mean"] == pytest.approx(2, abs=0.05)


def test_histograms_of_conformal_sets_have_the_means_that_are_measured(storage: Path) -> None:
    result = rescore(storage, "tiny", ["coverage=0.9", "conformal.scores=[lac, aps]"])
    assert result.kinds_of_sets[-2:] == ["lac90", "aps90"]
    metrics = result.runs.set_index("key")
    for sets in ("lac90", "aps90"):
        sizes = result.set_sizes(sets).query("group == 'all'")
        assert sizes["key"].nunique() > 1
        for key, rows in sizes.groupby("key"):
            mean = (rows["size"] * rows["count"]).sum() / rows["count"].sum()
            assert mean == pytest.approx(metrics.loc[key, f"test/{sets}_set_size"], rel=1e-12)
    with pytest.raises(ValueError, match=r"^sets must be one of .*, lac90, aps90, got 'lac95'\.$"):
        result.set_sizes("lac95")


def test_histograms_curves_and_classes_add_up_to_the_means(storage: Path) -> None:
    result = rescore(storage, "tiny")
    metrics = result.runs.set_index("key")
    sizes = result.set_sizes("avg2").query("group == 'all'")
    assert set(result.set_sizes("avg2")["group"]) == {"all", "medium", "many"} or set(sizes["group"]) == {"all"}
    for key, rows in sizes.groupby("key"):
        mean = (rows["size"] * rows["count"]).sum() / rows["count"].sum()
        assert mean == pytest.approx(metrics.loc[key, "test/avg2_set_size"], rel=1e-12)
    classes = result.per_class("avg", 2)
    assert (classes.groupby("key")["train"].sum() > 1000).all()
    for key, rows in classes.groupby("key"):
        mean = (rows["accuracy"] * rows["test"]).sum() / rows["test"].sum()
        assert mean == pytest.approx(metrics.loc[key, "test/avg2_accuracy"], rel=1e-12)
    curve = result.accuracy_by_k(at="avg2_accuracy")
    assert curve.groupby("key")["k"].apply(list).map(lambda ks: ks == list(range(1, 10))).all()
    for key, rows in curve.groupby("key"):
        at_two = rows.set_index("k").loc[2]
        assert at_two["avg"] == pytest.approx(metrics.loc[key, "test/avg2_accuracy"], rel=1e-12)
        assert rows["top"].is_monotonic_increasing
    with pytest.raises(ValueError, match=r"^at must be one of avg1_accuracy, .*, got 'avg3_accuracy'\.$"):
        result.accuracy_by_k(at="avg3_accuracy")


def test_the_command_writes_what_scores_tell_beyond_means(
    storage: Path, setsweep: Callable[..., Any], tmp_path: Path
) -> None:
    said = setsweep("rescore", "tiny", "--storage", storage, "--out", tmp_path / "more")
    assert said.code == 0
    for name, columns in (
        ("set_sizes", {"group", "size", "count", "sets"}),
        ("accuracy_by_k", {"k", "top", "avg"}),
        ("per_class", {"class", "train", "test", "accuracy", "sets", "k"}),
    ):
        assert str(tmp_path / "more" / f"{name}.csv") in said.out
        assert {"arm", "seed", *columns} <= set(pd.read_csv(tmp_path / "more" / f"{name}.csv").columns)
    assert str(tmp_path / "more" / "per_class-1.png") in said.out
    assert (tmp_path / "more" / "per_class-1.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("k=10", "--set k=10: k: must be between 1 and num_classes - 1 = 9, got 10."),
        ("training.head=both", "--set training.head=both: training.head: must be one of ml, sccp, best, got 'both'."),
        ("compare.metrics=[test/avg3_accuracy]", "unknown test metric 'test/avg3_accuracy'."),
        ("training.epochs=9", "training.epochs: unknown field to measure anew with 'training.epochs'."),
        ("k", "--set k: k: unknown field to measure anew with"),
        ("coverage=90", "--set coverage=90: coverage: must be > 0 and < 1, got 90."),
        ("conformal.scores=aps", "conformal.scores: must be left out without coverage."),
    ],
)
def test_what_scores_can_not_answer_is_refused(storage: Path, override: str, message: str) -> None:
    with pytest.raises(StudyError) as refusal:
        rescore(storage, "tiny", [override])
    assert message in str(refusal.value)


def test_scores_that_were_not_kept_are_told_with_how_to_keep_them(storage: Path, tmp_path: Path) -> None:
    shutil.copytree(storage, tmp_path / "results")
    shutil.rmtree(tmp_path / "results" / "tiny" / "scores")
    with pytest.raises(ValueError, match=r"scores of the runs of tiny must be kept .*, got none of 6 runs: .*--set k"):
        rescore(tmp_path / "results", "tiny")


def _read(storage: Path) -> Any:
    from setsweep.sweeps import read_study

    return read_study(storage / "tiny" / "study.yaml")
