from __future__ import annotations

from setsweep.sweeps.reports.shown_metrics import in_order, main_metrics
from setsweep.sweeps.study.study import Study


def test_the_main_metrics_come_first_in_their_order(study: Study) -> None:
    assert main_metrics(study)[:3] == ["test/top2_accuracy", "test/avg2_accuracy", "test/avg2_set_size"]
    mixed = ["test/macro_top2_accuracy", "test/avg3_set_size", "test/avg2_accuracy", "test/macro_avg2_accuracy"]
    assert in_order(study, mixed) == [
        "test/avg2_accuracy",
        "test/avg3_set_size",
        "test/macro_avg2_accuracy",
        "test/macro_top2_accuracy",
    ]
