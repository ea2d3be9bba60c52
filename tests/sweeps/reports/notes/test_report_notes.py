"""The sentences of a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.notes.report_notes import notes, progress
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study

Outcome = Callable[[Any], Any]


def test_a_complete_study_says_so(report: Report) -> None:
    assert progress(report) == "Complete. 46 runs: 46 done."


def test_failures_are_counted_and_do_not_make_a_study_incomplete(wounded: Report) -> None:
    assert progress(wounded) == "Complete. 46 runs: 42 done, 4 diverged or failed."


def test_an_unfinished_confirmation_is_told(study: Study, results: Any, finished: Outcome) -> None:
    runs = results(study, lambda run: None if (run.arm, run.seed) == ("avgk", 104) else finished(run))
    assert progress(build_report(study, runs)) == (
        "Incomplete. 46 runs: 44 done, 2 waiting. "
        "The confirmation of avgk is not finished: the numbers are provisional."
    )


def test_a_confirmation_that_has_not_begun_is_told(study: Study, results: Any) -> None:
    searched = [(run, result) for run, result in results(study) if run.stage == "search"]
    said = progress(build_report(study, searched))
    assert said.startswith("Incomplete. 16 runs: 16 done. The confirmation of cross_entropy, avgk, noised is not ")


def test_the_sentences_say_what_the_numbers_are(report: Report) -> None:
    intervals, scope, *_, search, choices = notes(report)
    assert intervals == (
        "± is the half-width of the 95 % Student-t interval of the mean over n seeds, cut at 0 and 100 %. "
        "Bold is the best of a column and what cannot be told from it (paired t tests, Holm), if no seed failed. "
        "Test numbers come from the fresh confirmation seeds 100-104 alone; "
        "hyperparameters were chosen by val/avg2_accuracy with seeds 0, 1."
    )
    assert scope.startswith("Every interval and test is for one split and one test set")
    assert search.startswith("Intervals of trials share one variance on the logit scale")
    assert choices.startswith("Chosen is the best mean of the objective")


def test_the_seeds_of_a_race_are_among_those_that_have_chosen(make_study: Any, results: Any) -> None:
    search = Search(trials=4, objective="val/avg2_accuracy", seeds=(1000,), race=3)
    study = make_study(search=search)
    assert notes(build_report(study, results(study)))[0].endswith("with seeds 1000-1002.")


def test_so_are_the_seeds_of_a_space_with_fewer_configurations_than_trials(make_study: Any) -> None:
    """Four trials of a space of two: two seeds each."""
    space = Space(kind="choice", choices=(0.1, 1.0), default=1.0)
    arms = {"avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": space})}
    study = make_study(arms=arms, search=Search(trials=4, objective="val/avg2_accuracy", seeds=(1000,)))
    assert notes(build_report(study, []))[0].endswith("with seeds 1000, 1001.")


def test_a_study_without_a_search_says_so(make_study: Any, results: Any) -> None:
    study = make_study(search=None)
    assert notes(build_report(study, results(study)))[0].endswith(
        "Test numbers come from seeds 100-104; nothing was searched."
    )


def test_without_a_comparison_no_test_is_explained(make_study: Any, results: Any) -> None:
    study = make_study(compare=Compare(), search=None)
    assert len(notes(build_report(study, results(study)))) == 2


def test_a_seed_far_from_the_others_is_told(make_study: Any, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={"test/avg3_accuracy": 0.8 + run.seed / 1e3 - 0.3 * (run.seed == 102)})

    arms = {name: Arm(name=name, loss="x") for name in ("a", "b")}
    study = make_study(arms=arms, grid={}, search=None, compare=Compare())
    runs = results(study, lambda run: outcome(run) if run.arm == "b" else finished(run))
    # 0.900, 0.901, 0.602, 0.903, 0.904: median 0.901, median absolute deviation 0.002, and -0.299 / (1.4826 * 0.002).
    (told,) = (note for note in notes(build_report(study, runs)) if note.startswith("Far from"))
    assert told.startswith("Far from the other seeds, worth a look: b, seed 102 (60.20, -100.8 robust")
    assert told.count("seed") == 2


def test_a_dead_run_is_told_with_its_place_and_the_first_line_of_its_reason_confirmations_first(
    wounded: Report,
) -> None:
    assert notes(wounded)[-1] == (
        "Left out of the means (4 of 46 runs): "
        "noised, data.label_noise = 0, seed 101 (CUDA | out_of_memory); "
        "noised, data.label_noise = 0.2, seed 101 (CUDA | out_of_memory); "
        "avgk, data.label_noise = 0, trial 3, seed 1 (the loss is not finite); "
        "avgk, data.label_noise = 0.2, trial 3, seed 1 (the loss is not finite). "
        "'setsweep logs fashion_losses' says more of each."
    )


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("must be finite.", "must be finite"),
        ("\nno memory\n", "no memory"),
        ("", "failed"),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 119 + "…"),
    ],
)
def test_a_reason_is_one_line_of_bearable_length(make_study: Any, results: Any, reason: str, shown: str) -> None:
    study = make_study(grid={}, search=None)
    runs = results(study)
    run, result = runs[0]
    runs[0] = (run, replace(result, status="failed", reason=reason, metrics={}))
    assert notes(build_report(study, runs))[-1].split(" 'setsweep")[0].endswith(f": cross_entropy, seed 100 ({shown}).")


def test_of_many_failures_ten_are_told_and_the_rest_counted(study: Study, results: Any, failed: Outcome) -> None:
    said = notes(build_report(study, results(study, failed)))[-1]
    assert said.startswith("Left out of the means (46 runs): ")
    assert said.count("the loss is not finite") == 10
    assert "; and 36 more, listed in the JSON report. " in said


def test_ten_failures_are_told_and_no_more_counted(
    make_study: Any, results: Any, finished: Outcome, failed: Outcome
) -> None:
    study = make_study(grid={}, search=None)
    said = notes(build_report(study, results(study, lambda run: (finished if run.arm == "avgk" else failed)(run))))[-1]
    assert said.startswith("Left out of the means (10 of 15 runs): ")
    assert said.count("the loss is not finite") == 10
    assert " and " not in said


def test_what_reading_the_study_has_changed_is_told_last(make_study: Any, results: Any, failed: Outcome) -> None:
    changed = make_study(notes=("Milestones after the last epoch are left out.",))
    assert notes(build_report(changed, results(changed, failed)))[-1] == "Milestones after the last epoch are left out."


def test_where_splits_are_drawn_with_the_seeds_intervals_are_over_both(make_study: Any, results: Any) -> None:
    study = make_study(data={"name": "digits", "split_seed": "run"})
    assert notes(build_report(study, results(study)))[1].startswith(
        "Every interval and test is over seeds and the splits that they draw"
    )


def test_groups_of_classes_are_explained_where_a_table_has_them(study: Study, results: Any, finished: Outcome) -> None:
    def outcome(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/macro_top2_accuracy_few": 0.5})

    said = "few, medium and many are classes with fewer than 20, 20 to 100 and more than 100 training images."
    assert said in notes(build_report(study, results(study, outcome)))
    assert said not in notes(build_report(study, results(study)))


FEW = "test/macro_top2_accuracy_few"


def test_a_metric_that_no_run_can_have_is_told_with_the_reason(
    make_study: Any, results: Any, finished: Outcome
) -> None:
    """Each class of digits has some 100 training images: there are no groups; a class may be in no group asked for."""
    study = make_study(compare=Compare(baseline="cross_entropy", show=(FEW,)))
    said = [note for note in notes(build_report(study, results(study))) if note.startswith(FEW)]
    assert said == [
        f"{FEW} is not known: all classes are in one group (few: below 20, many: above 100 training images), "
        "of which the mean over all classes tells."
    ]

    def of_others(run: Any) -> Any:
        return replace(finished(run), metrics={**finished(run).metrics, "test/macro_top2_accuracy_many": 0.5})

    said = [note for note in notes(build_report(study, results(study, of_others))) if note.startswith(FEW)]
    assert said == [f"{FEW} is not known: no class has so few training images."]


def test_nothing_is_missed_before_a_confirmation_has_begun(make_study: Any, results: Any) -> None:
    study = make_study(compare=Compare(baseline="cross_entropy", show=(FEW,)))
    searched = [(run, result) for run, result in results(study) if run.stage == "search"]
    assert not any("is not known" in note for note in notes(build_report(study, searched)))
