"""What people write who mean another field is answered with where it goes."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.hints import unknown_field

STUDY: dict[str, Any] = {
    "study": "s",
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "k": 2,
    "arms": {"cross_entropy": {}},
}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"seeds": 5}, "seeds: unknown field 'seeds'. A seed is not a parameter: confirm.seeds and search.seeds say"),
        ({"grid": {"seed": [1, 2]}}, "grid.seed: unknown grid field 'seed'. A seed is not a parameter"),
        ({"epochs": 5}, "epochs: unknown field 'epochs'. It goes into training: training.epochs."),
        ({"lr": 5}, "lr: unknown field 'lr'. It goes into training: training.optimizer.lr."),
        ({"learning_rate": 5}, "unknown field 'learning_rate'. It goes into training: training.optimizer.lr."),
        ({"trials": 5}, "trials: unknown field 'trials'. It goes into search: search.trials."),
        ({"training": {"learning_rate": 1}}, "unknown setting 'learning_rate'. Did you mean 'optimizer.lr'?"),
        ({"training": {"optimizer": {"learning_rate": 1}}}, "'optimizer.learning_rate'. Did you mean 'optimizer.lr'?"),
        ({"training": {"epoch": 1}}, "unknown setting 'epoch'. Did you mean 'epochs'?"),
        ({"confrim": {}}, "unknown field 'confrim'. Did you mean 'confirm'?"),
    ],
)
def test_a_field_by_another_name_or_in_another_place_has_its_own_told(fields: dict[str, Any], error: str) -> None:
    with pytest.raises(StudyError) as caught:
        read_study(STUDY | fields)
    (told,) = caught.value.errors
    assert error in told


def test_what_nobody_could_mean_has_all_that_there_is() -> None:
    assert unknown_field("field", "zzz", ["b", "a"]) == "unknown field 'zzz'. Known: a, b."


def test_a_place_is_told_for_fields_of_the_study_alone() -> None:
    assert "It goes into" not in unknown_field("field", "baseline", ["trials"])


def test_a_broken_k_has_no_errors_that_follow_from_it() -> None:
    broken = STUDY | {
        "k": 0,
        "arms": {"avgk": {"alpha": "default_space"}},
        "search": {"objective": "val/avg2_accuracy"},
        "compare": {"metrics": ["test/top2_accuracy"]},
    }
    with pytest.raises(StudyError) as caught:
        read_study(broken)
    assert caught.value.errors == ("study: k: must be between 1 and num_classes - 1 = 9, got 0.",)


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"training": {"epochs": 2, "evaluate_every": 3}}, "runs are evaluated once, at their end"),
        ({"confirm": {"seeds": 1}}, "one seed gives no interval and no test"),
    ],
)
def test_what_is_legal_and_seldom_meant_is_noted(fields: dict[str, Any], note: str) -> None:
    (told,) = read_study(STUDY | fields).notes
    assert note in told
