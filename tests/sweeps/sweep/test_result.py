"""What a study has given, for Python: a stored study of three arms at two points, at one of which most runs diverge.

It is that of ``tests/sweeps/records/test_version_3.py``.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pandas as pd
import pytest

from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.sweep.result import StudyResult, stored_result

HERE = Path(__file__).parents[1] / "records" / "version_3" / "small"
OBJECTIVE = "val/avg1_accuracy"
LR = "point.training.optimizer.lr"
STATISTICS = ["mean", "ci_low", "ci_high", "std", "n"]


@pytest.fixture(scope="module")
def result() -> StudyResult:
    return StudyResult(read_study(HERE / "study.yaml"), HERE)


def _one(frame: pd.DataFrame, **values: object) -> pd.Series:
    """The only row that has these values."""
    for column, value in values.items():
        frame = frame[frame[LR if column == "lr" else column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_an_aggregate_has_its_place_its_configuration_and_its_numbers(result: StudyResult) -> None:
    row = _one(result.aggregates, arm="noised_topk_hinge", stage="confirm", metric="test/top2_accuracy", lr=0.1)
    assert row["values"] == {0: 0.4027777777777778, 1: 0.26666666666666666, 2: 0.4083333333333333}
    assert row["mean"] == pytest.approx(sum(row["values"].values()) / 3, rel=1e-12)
    # t(0.975, 2) = 4.302653
    assert row["ci_high"] - row["mean"] == pytest.approx(4.302653 * row["std"] / math.sqrt(3), rel=1e-6)
    assert (row["n"], row["planned"], row["failed"]) == (3, 3, 0)
    assert (row["params.epsilon"], row["params.num_samples"], row["params.k"]) == (0.2, 3, 1)


def test_an_aggregate_of_what_diverged_has_what_is_left(result: StudyResult) -> None:
    place = {"stage": "confirm", "metric": "test/top2_accuracy", "lr": 1e9}
    two = _one(result.aggregates, arm="noised_topk_hinge", **place)
    one = _one(result.aggregates, arm="cross_entropy", **place)
    none = _one(result.aggregates, arm="avgk", **place)
    assert [(row["n"], row["planned"], row["failed"]) for row in (two, one, none)] == [(2, 3, 1), (1, 3, 2), (0, 3, 3)]
    assert not two[STATISTICS].isna().any()
    assert one[STATISTICS].isna().tolist() == [False, True, True, True, False]
    assert none[STATISTICS].isna().tolist() == [True, True, True, True, False]


def test_trials_are_numbered_in_the_search_and_not_in_the_confirmation(result: StudyResult) -> None:
    for frame in (result.aggregates, result.runs):
        trials = frame.groupby("stage")["trial"]
        assert sorted(trials.get_group("search").unique()) == [0, 1, 2]
        assert trials.get_group("confirm").isna().all()
        assert str(frame["trial"].dtype) == "Int64"


def test_every_arm_is_compared_with_the_baseline_at_every_point(result: StudyResult) -> None:
    frame = result.comparisons
    assert len(frame) == 2 * 2 * 4  # arms, points, metrics
    assert set(frame["baseline"]) == {"cross_entropy"}
    row = _one(frame, arm="avgk", metric="test/top1_accuracy", lr=0.1)
    values = {
        arm: _one(result.aggregates, arm=arm, stage="confirm", metric="test/top1_accuracy", lr=0.1)["values"]
        for arm in ("avgk", "cross_entropy")
    }
    differences = [values["avgk"][seed] - values["cross_entropy"][seed] for seed in range(3)]
    assert row["difference"] == pytest.approx(sum(differences) / 3, rel=1e-9)
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    assert 0 < row["p"] <= 1
    primary = _one(frame[frame["role"] == "primary"], arm="avgk", lr=0.1)
    assert 0 < primary["p"] < primary["p_corrected"] <= 1
    dead = _one(frame, arm="avgk", metric="test/top1_accuracy", lr=1e9)
    assert (dead["n"], bool(dead[["difference", "p", "p_corrected"]].isna().all())) == (0, True)


def test_every_search_has_its_choice_with_what_it_was_chosen_on(result: StudyResult) -> None:
    frame = result.choices
    assert len(frame) == 2  # one arm is searched, at two points
    row = _one(frame, arm="avgk", lr=0.1)
    chosen = _one(result.aggregates, arm="avgk", lr=0.1, stage="search", trial=row["trial"], metric=OBJECTIVE)
    assert row["mean"] == pytest.approx(chosen["mean"])
    confirmed = _one(result.aggregates, arm="avgk", lr=0.1, stage="confirm", metric=OBJECTIVE)
    assert row["params.alpha"] == confirmed["params.alpha"]
    assert row["optimism"] == pytest.approx(chosen["mean"] - confirmed["mean"])
    assert row["optimism_low"] < row["optimism"] < row["optimism_high"]
    assert row["below_best"] >= 0
    assert (row["runs"], row["runs_of_all_seeds"]) == (6, 6)
    assert pd.isna(row["over_default"]), "the default was not confirmed"


def test_every_run_has_its_seed_its_state_and_its_metrics(result: StudyResult) -> None:
    assert result.complete
    assert len(result.runs) == 30
    run = _one(result.runs, arm="cross_entropy", seed=2, lr=0.1)
    assert (run["status"], run["test/top1_accuracy"]) == ("done", pytest.approx(0.163889, abs=1e-6))
    assert run["seconds"] > 0


def test_runs_that_diverged_are_found_with_their_reason(result: StudyResult) -> None:
    failed = result.failed
    assert len(failed) == 12
    assert set(failed["status"]) == {"diverged"}
    assert set(failed[LR]) == {1e9}
    assert failed["reason"].str.startswith("training loss must be finite, got nan in epoch ").all()


def test_a_report_is_that_of_every_format(result: StudyResult) -> None:
    assert result.report().startswith("# small\n")
    assert result.report("csv").startswith("arm,point.training.optimizer.lr,")
    with pytest.raises(ValueError, match=r"^format must be one of csv, html, .*, got 'word'\.$"):
        result.report("word")


def test_a_model_is_asked_for_by_an_arm_and_where_there_are_several_a_point(result: StudyResult) -> None:
    point = {"training.optimizer.lr": 0.1}
    points = "[{'training.optimizer.lr': 0.1}, {'training.optimizer.lr': 1000000000.0}]"
    refusals = {
        ("avg_k", None): "arm must be one of cross_entropy, avgk, noised_topk_hinge, got 'avg_k'.",
        ("avgk", None): f"point must be given, one of {points}, got none.",
        ("avgk", 0.2): f"point must be one of {points}, got {{'training.optimizer.lr': 0.2}}.",
    }
    for (arm, lr), message in refusals.items():
        with pytest.raises(ValueError) as refused:
            result.best_model(arm, None if lr is None else {"training.optimizer.lr": lr})
        assert str(refused.value) == message
    with pytest.raises(ValueError, match=r"^model of avgk must have been trained, got none in .*models yet\.$"):
        result.best_model("avgk", point)


def test_a_study_that_has_begun_has_waiting_runs_and_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    shutil.copy(HERE / "study.yaml", tmp_path / "small")
    (tmp_path / "small" / "journal.jsonl").touch()
    begun = stored_result("small", str(tmp_path))
    assert not begun.complete
    assert set(begun.runs["status"]) == {"waiting"}
    # at each of two points three seeds of two arms, and the first batch of trials: all three with two seeds
    assert len(begun.runs) == 2 * (3 + 3 + 3 * 2)
    assert (len(begun.aggregates), len(begun.comparisons), len(begun.failed)) == (0, 0, 0)


def test_a_study_that_was_not_run_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"^study 'small' must have been run in '{tmp_path}', got no journal in "):
        stored_result(str(HERE / "study.yaml"), str(tmp_path))
    with pytest.raises(ValueError, match=r"^STUDY must be one that was run in '.*', got 'nosuch'\."):
        stored_result("nosuch", str(tmp_path))
