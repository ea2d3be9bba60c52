from __future__ import annotations

from dataclasses import replace
from typing import Any

from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.shown_metrics import in_order, main_metrics, shown_metrics
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study
from setsweep.trainables.conformal.how import Conformal


def test_the_main_metrics_come_first_in_their_order(study: Study) -> None:
    assert main_metrics(study)[:3] == ["test/top2_accuracy", "test/avg2_accuracy", "test/avg2_set_size"]
    mixed = ["test/macro_top2_accuracy", "test/avg3_set_size", "test/avg2_accuracy", "test/macro_avg2_accuracy"]
    assert in_order(study, mixed) == [
        "test/avg2_accuracy",
        "test/avg3_set_size",
        "test/macro_avg2_accuracy",
        "test/macro_top2_accuracy",
    ]


def test_coverage_and_mean_size_of_conformal_sets_are_main_metrics(study: Study) -> None:
    asked = replace(study, coverage=(0.9,), conformal=Conformal(scores=("lac", "pas")))
    assert main_metrics(asked) == [
        *main_metrics(study),
        "test/lac90_coverage",
        "test/lac90_set_size",
        "test/pas90_coverage",
        "test/pas90_set_size",
    ]


def test_macro_coverages_are_shown_where_their_sets_are(study: Study, results: Any, finished: Any) -> None:
    means = {"": 0.8, "macro_": 0.9}
    found = {f"test/{macro}{sets}_coverage": mean for sets in ("lac90", "pas90") for macro, mean in means.items()}
    asked = replace(study, coverage=(0.9,), conformal=Conformal(scores=("lac", "pas")))

    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, **found})

    for metrics in ((), ("test/avg2_accuracy",), ("test/top2_accuracy", "test/avg2_accuracy")):  # no sets among them
        plain = replace(asked, compare=Compare(metrics=metrics))
        assert {*found} <= set(shown_metrics(build_report(plain, results(plain, outcome))))
    named = replace(asked, compare=Compare(metrics=("test/lac90_coverage",)))
    shown = set(shown_metrics(build_report(named, results(named, outcome))))
    # and of the others only what is compared, or of sets that are
    assert shown & {*found} == {"test/lac90_coverage", "test/macro_lac90_coverage"}
