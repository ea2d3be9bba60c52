"""A saturated run does not win a search, and is told; in a study that was begun before, it is told alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.reports.notes.choices import choice_notes
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables.searches import search_tables
from setsweep.sweeps.statistics.saturated import Saturated, saturated
from setsweep.sweeps.study.study import Search, Study
from setsweep.trainables.config.run_result import RunResult

Make = Callable[..., Study]


def _outcome(run: PlannedRun) -> RunResult:
    """The larger alpha, the better; beyond 3 the sets hold 7 labels instead of 2."""
    alpha = float(run.params.get("alpha", 1.0))
    value = 0.5 + 0.03 * alpha
    metrics = {f"{split}/{rule}2_accuracy": value for split in ("val", "test") for rule in ("top", "avg")}
    metrics |= {f"{split}/avg2_set_size": 7.0 if alpha > 3 else 2.0 for split in ("val", "test")}
    return RunResult(key=run.key, status="done", metrics=metrics)


def _report(make_study: Make, **search: Any) -> Report:
    settings = {"trials": 12, "sampler": "qmc", "objective": "val/avg2_accuracy", "seeds": (1000,)}
    data = {"name": "digits", "label_noise": 0.0, "label_noise_kind": "exact"}
    study = make_study(
        grid={}, data=data, model={"name": "linear"}, confirm_seeds=(0, 1), search=Search(**{**settings, **search})
    )
    planner = Planner(study)
    while isinstance(run := planner.next_run(), PlannedRun):
        planner.tell(_outcome(run))
    return build_report(study, planner.runs())


@pytest.mark.parametrize("race", [None, 3])
def test_the_best_whose_sets_are_no_larger_than_asked_for_wins(make_study: Make, race: int | None) -> None:
    report = _report(make_study, race=race)
    (each,) = report.searches
    assert each.chosen is not None
    alphas = {number: trial.params["alpha"] for number, trial in each.trials.items()}
    assert alphas[each.chosen] == max(alpha for alpha in alphas.values() if alpha <= 3)
    full = [each for each in report.saturated if each.stage == "search"]
    assert {each.trial for each in full} == {number for number, alpha in alphas.items() if alpha > 3}
    assert {(each.size, each.metric) for each in full} == {(7.0, "val/avg2_accuracy")}
    (note,) = (note for note in choice_notes(report) if note.startswith("Saturated"))
    assert note.startswith(
        f"Saturated: avgk, trial {full[0].trial} ({len(full[0].seeds)} of {full[0].runs} seeds, up to"
    )
    assert "more than 1.2 x k labels" in note
    assert note.endswith("In the search such a run counts as one that failed.")


def test_a_search_that_was_begun_before_keeps_its_choice_and_says_so(make_study: Make) -> None:
    report = _report(make_study, saturated=True)
    (each,) = report.searches
    assert each.chosen == max(each.trials, key=lambda number: each.trials[number].params["alpha"])
    assert [own.stage for own in report.saturated if own.trial is None] == ["confirm"]
    (note,) = (note for note in choice_notes(report) if note.startswith("Saturated"))
    assert "avgk, confirmed (2 of 2 seeds, up to 7.0 labels for k = 2)" in note
    assert note.endswith("by its number, as when this study was begun: the choice may be one of them.")
    (table,) = search_tables(report)
    assert table.rows[0][2].text.endswith("(1 saturated)")


def test_nothing_is_told_where_sets_are_as_large_as_asked_for(study: Study, results: Any) -> None:
    runs = results(study)
    assert saturated(study, runs) == []
    assert not any("aturated" in note for note in choice_notes(build_report(study, runs)))


def test_what_is_confirmed_is_told_by_the_primary_metric(study: Study, results: Any, finished: Any) -> None:
    def outcome(run: Any) -> Any:
        result = finished(run)
        large = run.arm == "noised" and run.seed == 101
        return replace(result, metrics={**result.metrics, "val/avg2_set_size": 2.5}) if large else result

    found = saturated(study, results(study, outcome))
    assert [(each.arm, each.stage, each.seeds, each.runs) for each in found] == [("noised", "confirm", (101,), 5)] * 2
    assert isinstance(found[0], Saturated)
