"""What the runs of a study say, as data."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.notes.report_notes import notes
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.tables.report_tables import result_tables
from setsweep.sweeps.study.parts import Compare


def test_a_finished_study_is_complete(study: Any, results: Any) -> None:
    report = build_report(study, results(study))
    assert report.complete
    assert report.unconfirmed == ()
    # 2 points: 4 trials of one arm with 2 seeds, and 3 arms confirmed with 5.
    assert (report.counts.planned, report.counts.done) == (46, 46)


@pytest.mark.parametrize("seed", range(3))
def test_a_report_does_not_depend_on_the_order_of_runs(study: Any, results: Any, seed: int) -> None:
    runs = results(study)
    shuffled = random.Random(seed).sample(runs, len(runs))
    assert build_report(study, shuffled) == build_report(study, runs)


def test_aggregates_are_in_the_order_of_the_study_file(study: Any, results: Any) -> None:
    report = build_report(study, results(study))
    assert list(dict.fromkeys(a.arm for a in report.aggregates)) == ["cross_entropy", "avgk", "noised"]
    assert list(dict.fromkeys(a.point["data.label_noise"] for a in report.aggregates)) == [0.0, 0.2]


def test_the_chosen_configuration_is_the_confirmed_one(study: Any, results: Any) -> None:
    report = build_report(study, results(study))
    (chosen,) = (c for c in report.chosen if c.arm == "avgk" and c.point == {"data.label_noise": 0.2})
    assert chosen.params == {"alpha": 0.4}
    assert (chosen.seeds, chosen.done, chosen.failed) == ((100, 101, 102, 103, 104), 5, 0)


def test_runs_are_counted_by_state_and_failures_named(study: Any, results: Any, finished: Any, failed: Any) -> None:
    def outcome(run: Any) -> Any:
        if run.seed == 104:
            return None
        return failed(run) if (run.arm, run.seed) == ("noised", 100) else finished(run)

    report = build_report(study, results(study, outcome))
    assert (report.counts.done, report.counts.failed, report.counts.waiting) == (38, 2, 6)
    assert [(f.arm, f.seed, f.reason) for f in report.failures] == [("noised", 100, "the loss is not finite")] * 2
    assert not report.complete


def test_a_study_with_failures_but_nothing_to_wait_for_is_complete(study: Any, results: Any, failed: Any) -> None:
    report = build_report(study, results(study, failed))
    assert report.complete
    assert report.counts.failed == 46


def test_a_study_whose_confirmation_has_not_begun_is_incomplete(study: Any, results: Any) -> None:
    searched = [(run, result) for run, result in results(study) if run.stage == "search" or run.arm != "avgk"]
    report = build_report(study, searched)
    assert not report.complete
    assert report.counts.waiting == 0
    assert report.unconfirmed == (("avgk", {"data.label_noise": 0.0}), ("avgk", {"data.label_noise": 0.2}))


def test_a_study_without_any_run_has_an_empty_report(study: Any) -> None:
    report = build_report(study, [])
    assert (report.aggregates, report.comparisons, report.chosen, report.complete) == ((), (), (), False)


def test_a_run_that_failed_without_a_reason_is_named_by_its_state(study: Any, results: Any, failed: Any) -> None:
    report = build_report(study, results(study, lambda run: failed(run, "")))
    assert {failure.reason for failure in report.failures} == {"diverged"}


def test_the_values_of_a_grid_may_be_lists_and_mappings(make_study: Any, results: Any) -> None:
    """Those of a user's own data."""
    study = make_study(grid={"data.sizes": ([1], [2, 3], {"a": 1})})
    report = build_report(study, results(study))
    assert report.complete
    assert list({str(a.point): a.point["data.sizes"] for a in report.aggregates}.values()) == [[1], [2, 3], {"a": 1}]
    assert {len(c.values) for c in report.aggregates if c.stage == "confirm"} == {5}
    assert {c.n for c in report.comparisons} == {5}
    begun = build_report(study, [(run, result) for run, result in results(study) if run.point["data.sizes"] != [2, 3]])
    assert begun.unconfirmed == tuple((arm, {"data.sizes": [2, 3]}) for arm in study.arms)


AT_ANOTHER = "test/top2_accuracy@avg2_accuracy"


def _with_tests(run: Any, finished: Any) -> Any:
    """A result whose average-2 accuracy was best in epoch 1, at which top-2 accuracy was 0.5 on test."""
    return replace(finished(run), best_epoch={"avg2_accuracy": 1}, tested={1: {"test/top2_accuracy": 0.5}})


@pytest.mark.parametrize(("field", "compared"), [("metrics", True), ("show", False)])
def test_metrics_read_at_the_best_epoch_of_another_are_aggregated_and_compared_where_asked_for(
    make_study: Any, results: Any, finished: Any, field: str, compared: bool
) -> None:
    settings: dict[str, Any] = {"baseline": "cross_entropy", "metrics": ("test/avg2_accuracy",)}
    settings[field] = (*settings.get(field, ()), AT_ANOTHER)
    study = make_study(compare=Compare(**settings))
    report = build_report(study, results(study, lambda run: _with_tests(run, finished)))
    read = [a for a in report.aggregates if a.metric == AT_ANOTHER and a.stage == "confirm"]
    assert [(a.mean, a.n) for a in read] == [(0.5, 5)] * 6  # 3 arms at 2 points
    assert (AT_ANOTHER in {c.metric for c in report.comparisons}) == compared
    assert "top-2 at best avg-2 (%)" in result_tables(report)[0].header


def test_metrics_at_other_epochs_that_no_run_has_are_told(make_study: Any, results: Any) -> None:
    study = make_study(compare=Compare(baseline="cross_entropy", show=(AT_ANOTHER,)))
    said = notes(build_report(study, results(study)))
    assert f"{AT_ANOTHER} is not known: these runs are older than the record of every kept epoch's metrics." in said
