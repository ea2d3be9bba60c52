"""The sentences under the tables of differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.reports.notes.comparisons import comparison_notes
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.study import Study

Outcome = Callable[[Any], Any]


def _notes(study: Study, results: Any, **changes: Any) -> list[str]:
    changed = replace(study, compare=replace(study.compare, **changes))
    return comparison_notes(build_report(changed, results(changed)))


def test_the_tests_are_told_with_their_families(report: Report) -> None:
    tests, together, detectable, tuning = comparison_notes(report)
    # 2 arms beside the baseline, 2 points, 4 accuracies.
    assert tests == (
        "Δ is the arm minus cross_entropy, paired by seed, with the 95 % interval of each by itself, also beside a "
        "corrected p. p is of the two-sided paired t test, Holm-corrected over the study's 4 comparisons by "
        "test/avg2_accuracy; the 12 by other metrics are tested where that is significant, corrected over all 12, else "
        "exploratory: p in brackets, of that test alone; * marks p < 0.05."
    )
    assert together.startswith(
        "The intervals together cover all with 95 % and leave out 0 exactly where corrected p is"
    )
    assert detectable.startswith("No * is not equal: with so many seeds a true difference of 0.")
    assert detectable.endswith("is found with probability 0.8 at the first step of the correction over 4 (detectable).")
    assert tuning == "Not tuned alike: avgk (tuned, 4 configurations) against cross_entropy (untuned)."


@pytest.mark.parametrize(
    ("correction", "how"),
    [
        ("bonferroni", "Bonferroni-corrected over the study's 4 comparisons by test/avg2_accuracy; the 12"),
        ("none", "not corrected for the study's 16 comparisons; * marks p < 0.1."),
    ],
)
def test_the_correction_and_the_level_of_the_tests_are_told(
    study: Study, results: Any, correction: str, how: str
) -> None:
    tests = _notes(study, results, correction=correction, confidence=0.9)[0]
    assert "90 % interval" in tests
    assert how in tests


def test_one_comparison_is_called_one(study: Study, results: Any) -> None:
    arms = {name: study.arms[name] for name in ("cross_entropy", "avgk")}
    tests = _notes(replace(study, arms=arms, grid={}), results)[0]
    assert "Holm-corrected over the study's one comparison by test/avg2_accuracy; the 3 by" in tests


def test_the_family_is_what_the_study_asks_for_not_what_came_out(study: Study, results: Any, finished: Outcome) -> None:
    """With one seed at the second point there is no p there."""
    runs = results(
        study, lambda run: finished(run) if not run.point["data.label_noise"] or run.seed in (0, 1, 100) else None
    )
    told = comparison_notes(build_report(study, runs))
    assert "over the study's 4 comparisons" in told[0]
    missing = (
        "8 differences have neither p nor interval: of one or two seeds, or of seeds that all differ by the same, no t "
        "test can be made. In the correction that counts as p = 1."
    )
    assert missing in told


def test_looks_and_equality_are_told_where_they_are_asked_for(study: Study, results: Any) -> None:
    assert "planned looks at 5, 10 seeds together (Pocock" in _notes(study, results, looks=(5, 10))[1]
    assert "however often one looks, from 5 seeds on" in _notes(study, results, looks="anytime")[1]
    told = _notes(study, results, equivalent=0.25)
    assert any("two one-sided tests reject a difference of 0.25 points or more" in note for note in told)


def test_without_a_comparison_there_is_nothing_to_say(study: Study, results: Any) -> None:
    alone = replace(study, compare=Compare())
    assert comparison_notes(build_report(alone, results(alone))) == []


def test_several_data_sets_are_said_to_count_once_each(make_study: Any, results: Any) -> None:
    study = make_study(grid={"data.name": ("digits", "circle")})
    told = comparison_notes(build_report(study, results(study)))
    assert any(note.startswith("Over data sets a set counts once") and "t test over sets" in note for note in told)


def test_a_data_set_without_differences_is_named(make_study: Any, results: Any, finished: Any) -> None:
    study = make_study(grid={"data.name": ("digits", "circle")})
    begun = results(study, lambda run: finished(run) if run.point["data.name"] == "digits" else None)
    told = comparison_notes(build_report(study, begun))
    assert "Over data sets nothing is told before all have differences: circle has none yet." in told
