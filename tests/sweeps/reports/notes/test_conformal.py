"""What a report says of conformal sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setsweep.sweeps.reports.notes.conformal import conformal_notes
from setsweep.sweeps.study.study import Study
from setsweep.trainables.conformal.how import Conformal

MakeStudy = Callable[..., Study]


def test_a_study_without_them_says_nothing(make_study: MakeStudy) -> None:
    assert conformal_notes(make_study()) == []


@pytest.mark.parametrize(
    ("data", "grid", "begins"),
    [
        ({"name": "digits"}, {}, "Conformal sets are calibrated on the validation examples that epochs and hyper"),
        ({"name": "digits", "calibration": 0.5}, {}, "Conformal sets are calibrated on a part of the validation"),
        ({"name": "digits"}, {"data.calibration": (0.2, 0.5)}, "Conformal sets are calibrated on a part of the"),
        ({"name": "digits"}, {"data.calibration": (0.0, 0.5)}, "Where data.calibration is 0, conformal sets are"),
        ({"name": "mine:data"}, {}, "Unless the data have a calibration split of their own, conformal sets are"),
    ],
)
def test_the_report_says_what_they_were_calibrated_on(
    make_study: MakeStudy, data: dict[str, Any], grid: dict[str, Any], begins: str
) -> None:
    first, second = conformal_notes(make_study(data=data, grid=grid, coverage=(0.9,)))
    assert first.startswith(begins)
    assert ("exchangeability is broken" in first) == ("a part of the" not in first)
    assert "best on validation by avg" in second


def test_the_report_says_what_each_calibration_promises(make_study: MakeStudy) -> None:
    every = Conformal(calibrations=("marginal", "classwise", "clustered", "interpolated"))
    notes = conformal_notes(make_study(coverage=(0.9, 0.95), conformal=every))
    assert "(9 for 90 %, 19 for 95 %) is in every set" in notes[2]
    assert len(notes) == 5
