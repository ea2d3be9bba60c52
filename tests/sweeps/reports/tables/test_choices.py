"""How choices were made: their table, the race round by round, fronts, and the sentences about them."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.looks import Look
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.reports.formats import FORMATS, render
from setsweep.sweeps.reports.notes.choices import choice_notes
from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.reports.tables.choices import choice_tables
from setsweep.sweeps.reports.tables.table import Table
from setsweep.sweeps.study.parts import Compare, Confirm
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Search, Study
from setsweep.trainables.config.run_result import RunResult

ALPHA = Space(kind="log_uniform", low=0.1, high=10.0, default=1.0)
RACE = Search(trials=12, sampler="qmc", objective="val/avg2_accuracy", seeds=(1000,), race=9)


def _report(*, most: int = 10**6, looks: tuple[Look, ...] = (), **changes: Any) -> Report:
    settings: dict[str, Any] = {
        "name": "which-loss",
        "data": {"name": "digits"},
        "model": {"name": "linear"},
        "training": {"epochs": 3},
        "k": (2,),
        "arms": {"avgk": Arm(name="avgk", loss="avgk", searched={"loss.alpha": ALPHA})},
        "search": RACE,
        "confirm_seeds": (0, 1, 2),
        "confirm": Confirm(default=True),
        "compare": Compare(),
    }
    study = Study(**{**settings, **changes})
    planner = Planner(study)
    for _ in range(most):
        run = planner.next_run()
        if not isinstance(run, PlannedRun):
            break
        planner.tell(_outcome(run))
    return build_report(study, planner.runs(), looks)


def _outcome(run: PlannedRun) -> RunResult:
    draw = random.Random(run.key)
    alpha = float(run.params["alpha"])
    value = 0.9 - 0.02 * abs(alpha - 3) + draw.gauss(0, 0.002)
    splits = ("val", "test") if run.stage != "search" else ("val",)
    metrics = {f"{split}/{rule}2_accuracy": value for split in splits for rule in ("top", "avg")}
    return RunResult(
        key=run.key, status="done", metrics=metrics | {f"{s}/avg2_set_size": 2 + alpha / 100 for s in splits}
    )


def _column(table: Table, heading: str) -> list[str]:
    index = next(i for i, name in enumerate(table.header) if name.startswith(heading))
    return [row[index].text for row in table.rows]


def test_a_choice_is_a_row_with_what_it_took_and_what_it_brought() -> None:
    report = _report(grid={"data.label_noise": (0.0, 0.2)})
    choices = choice_tables(report)[0]
    assert choices.header == (
        "arm", "grid point", "search", "runs (of all)", "chosen", "val/avg2_accuracy (%)",
        "at most below the best (points)", "optimism (points)", "default's avg-2 (%)", "chosen - default (points)",
    )  # fmt: skip
    assert _column(choices, "grid point") == ["data.label_noise = 0", "data.label_noise = 0.2"]
    assert _column(choices, "search") == ["12 x 1, 4 x 3, 3 x 9"] * 2
    assert _column(choices, "runs") == ["38 (35 %)"] * 2
    [first, _] = report.searches
    assert _column(choices, "chosen")[0] == f"trial {first.chosen}"
    assert first.mean is not None
    assert _column(choices, "val/avg2")[0] == f"{100 * first.mean:.2f}"
    assert _column(choices, "chosen -")[0].startswith("+")


def test_a_choice_that_is_the_default_says_so() -> None:
    at_best = Arm(name="avgk", loss="avgk", searched={"loss.alpha": replace(ALPHA, default=3.0)})
    [choices, _] = choice_tables(_report(arms={"avgk": at_best}))
    assert _column(choices, "chosen -") == ["it is the default"]


def test_without_the_default_confirmed_there_are_no_columns_of_it() -> None:
    [choices, _] = choice_tables(_report(confirm=Confirm()))
    assert choices.header[-1] == "optimism (points)"


def test_each_round_names_who_goes_on_and_who_was_dropped_on_what() -> None:
    report = _report()
    [_, races] = choice_tables(report)
    assert _column(races, "seeds") == ["1", "3", "9"]
    first = report.searches[0].rounds[0]
    named = [f"{number} ({100 * first.means[number]:.2f})" for number in first.survivors]
    assert _column(races, "go on")[0] == ", ".join(named)
    assert _column(races, "dropped")[2] == "-"
    many = _report(search=replace(RACE, trials=30))
    assert _column(choice_tables(many)[1], "dropped")[0].endswith(" and 14 more"), "of 20 dropped six are named"


def test_of_a_race_that_is_under_way_the_rounds_that_are_over_are_told() -> None:
    [choices, races] = choice_tables(_report(most=16))
    assert _column(races, "seeds") == ["1"]
    assert _column(choices, "chosen") == ["-"]
    assert len(choice_tables(_report(most=5))) == 1


def test_a_front_has_a_row_a_member_with_search_and_fresh_values() -> None:
    search = replace(RACE, race=None, further=("val/avg2_set_size",), front=3)
    report = _report(search=search)
    [_, front] = choice_tables(report)
    assert front.title == "Front of avgk"
    assert front.header == (
        "trial", "val/avg2_accuracy (%)", "val/avg2_set_size", "avg-2 (%)", "avg-2 size (labels)", "hyperparameters"
    )  # fmt: skip
    assert _column(front, "trial") == [str(number) for number in report.searches[0].front]
    assert all("±" in text for text in _column(front, "avg-2 (%)"))


def test_a_study_without_a_search_has_none_of_it(make_study: Any, results: Any) -> None:
    study = make_study(search=None)
    report = build_report(study, results(study))
    assert (choice_tables(report), choice_notes(report)) == ([], [])


def test_the_rule_and_what_the_race_saves_are_told() -> None:
    rule, race = choice_notes(_report())
    assert rule.startswith("Chosen is the best mean of the objective over the seeds that all have who are left")
    assert rule.endswith("Chosen - default is paired by seed, on test: what the search has brought.")
    assert race == (
        "The race over seeds 1000-1008 takes 38 runs; every trial with every seed would take 108: 70 are saved (65 %)."
    )


def test_how_sure_a_choice_is_stands_beside_it_or_why_it_is_not_known() -> None:
    report = _report()
    [certified] = [each.certificate for each in report.searches]
    assert certified is not None
    assert certified.bound is not None
    assert _column(choice_tables(report)[0], "at most below the best (points)") == [f"{100 * certified.bound:.2f}"]
    assert "At 95 % confidence, each by itself, a choice is at most so far below the best" in choice_notes(report)[0]
    unsure = _report(search=replace(RACE, race=None))
    assert _column(choice_tables(unsure)[0], "at most below the best (points)") == ["-"]
    assert "One seed a trial says nothing of how far a choice may be from the best" in choice_notes(unsure)[0]


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        ([(5, "a")], None),
        ([(5, "a"), (10, "a")], "1 choice has been confirmed here, looks at n = 5, 10."),
        ([(5, "a"), (10, "b")], "2 choices have been confirmed here, looks at n = 5, 10."),
    ],
)
def test_a_second_look_is_told(looks: list[tuple[int, str]], said: str | None) -> None:
    report = _report(looks=tuple(Look("avgk", {}, n, choice) for n, choice in looks))
    told = [note for note in choice_notes(report) if "looks at" in note]
    assert [note.startswith(f"avgk: {said}") for note in told] == ([True] if said else [])


def test_places_that_were_looked_at_alike_share_a_sentence() -> None:
    looks = tuple(Look("avgk", {"x": x}, n, "a") for n in (5, 10) for x in (1, 2))
    told = [note for note in choice_notes(_report(looks=looks)) if "looks at" in note]
    assert len(told) == 1
    assert told[0].startswith("avgk, x = 1; avgk, x = 2: 1 choice has been confirmed here, looks at n = 5, 10.")


BOTH = ("test/top2_accuracy", "test/avg2_accuracy")


@pytest.mark.parametrize(
    ("looks", "now", "said"),
    [
        ([BOTH], BOTH, []),
        ([BOTH[:1]], BOTH, []),  # more than before
        ([()], BOTH[1:], []),  # a look from before metrics were kept
        ([BOTH], BOTH[1:], ["left out since: test/top2_accuracy. p is"]),
        ([BOTH, BOTH[1:]], BOTH[1:], ["left out since: test/top2_accuracy. p is"]),
        ([("test/top9_accuracy",)], BOTH, []),  # of a k that is not measured here
    ],
)
def test_metrics_that_were_dropped_after_a_look_are_told(
    looks: list[tuple[str, ...]], now: tuple[str, ...], said: list[str]
) -> None:
    seen = tuple(Look("avgk", {}, 3, "a", metrics, "test/avg2_accuracy" if metrics else None) for metrics in looks)
    notes = choice_notes(_report(looks=seen, compare=Compare(metrics=now)))
    told = [note for note in notes if note.startswith("Compared when test numbers were first seen")]
    assert [text in note for text, note in zip(said, told, strict=True)] == [True] * len(said)
    assert not any("looks at n" in note for note in notes), "it is the same confirmation"


def test_another_primary_metric_than_at_a_look_is_told() -> None:
    looks = (Look("avgk", {}, 3, "a", BOTH, "test/avg2_accuracy"),)
    changed, same = (
        choice_notes(_report(looks=looks, compare=Compare(metrics=BOTH, primary=primary))) for primary in BOTH
    )
    first = "Tested first when test numbers were first seen: test/avg2_accuracy; now test/top2_accuracy."
    assert [note.startswith(first) for note in changed if note.startswith("Tested first")] == [True]
    assert not any(note.startswith("Tested first") for note in same)


def test_json_has_every_round_and_every_look() -> None:
    report = _report(looks=(Look("avgk", {}, 3, "c0ffee"),))
    plain = json.loads(render(report, "json"))
    [found] = plain["searches"]
    assert (found["runs"], found["runs_of_all_seeds"], found["chosen"]) == (38, 108, report.searches[0].chosen)
    assert [len(each["survivors"]) for each in found["rounds"]] == [4, 3, 3]
    assert set(found["rounds"][0]["means"]) == set(found["trials"]) == {str(number) for number in range(12)}
    assert set(found["optimism"]) == {"difference", "ci_low", "ci_high"}
    assert found["tunability"]["n"] == 3
    assert plain["looks"] == [{"arm": "avgk", "point": {}, "n": 3, "choice": "c0ffee"}]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_that_has_tables_tells_the_race(form: str) -> None:
    shown = render(_report(), form)
    assert ("4 x 3, 3 x 9" in shown) == (form not in ("csv", "json"))


@pytest.mark.parametrize(
    ("planned", "choices", "end"),
    [
        ((5, 10, 20), "aa", ", as the study has planned."),
        ("anytime", "aa", ", as the study has planned."),
        ((10, 20), "aa", "finds too much."),
        ((5, 10), "ab", "finds too much."),
        (None, "aa", "finds too much."),
    ],
)
def test_looks_that_were_planned_do_no_harm(planned: Any, choices: str, end: str) -> None:
    looks = tuple(Look("avgk", {}, n, choice) for n, choice in zip((5, 10), choices, strict=True))
    report = _report(looks=looks)
    study = replace(report.study, compare=replace(report.study.compare, looks=planned))
    (told,) = (note for note in choice_notes(replace(report, study=study)) if "looks at" in note)
    assert told.endswith(end)
