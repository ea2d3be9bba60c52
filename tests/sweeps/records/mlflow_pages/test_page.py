"""A study's own page: the result in a sentence, and what fits below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow_pages.page import build_page, fit, sentence
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

Runs = Sequence[tuple[PlannedRun, RunResult | None]]


@pytest.fixture
def runs(make_study: Callable[..., Study], results: Callable[..., Runs]) -> tuple[Study, Runs]:
    """A study without grid and search, whose accuracies are the arm's own for every seed."""
    study = make_study(grid={}, search=None)
    own = {"cross_entropy": 0.8, "avgk": 0.9, "noised": 0.85}

    def outcome(run: PlannedRun) -> RunResult:
        metrics = {f"test/{rule}{k}_accuracy": own[run.arm] for rule in ("top", "avg") for k in (2, 3)}
        return RunResult(key=run.key, status="done", metrics=metrics)

    return study, results(study, outcome)


def test_the_sentence_names_the_best_arm_its_mean_and_what_it_has_over_the_baseline(runs: tuple[Study, Runs]) -> None:
    said = sentence(build_report(*runs))
    assert said == "**avgk** is best in avg-3: 90.00 ± 0.00 % (n = 5; +10.00 points to cross_entropy)."


def test_while_a_study_runs_the_sentence_says_so(runs: tuple[Study, Runs]) -> None:
    study, known = runs
    some = [(run, result if run.seed == study.confirm_seeds[0] else None) for run, result in known]
    assert sentence(build_report(study, some)).startswith("So far: **avgk** is best in avg-3: 90.00 % (n = 1")
    assert sentence(build_report(study, [(run, None) for run, _ in known])) == "So far: no arm has a result yet."


def test_of_a_grid_of_few_points_each_is_named(make_study: Callable[..., Study], results: Callable[..., Any]) -> None:
    study = make_study(search=None)
    said = sentence(build_report(study, results(study)))
    assert "label_noise = 0" in said
    assert "label_noise = 0.2" in said
    assert said.count("avgk") == 1  # which is best at both


def test_a_page_has_tables_whose_columns_stand_apart(runs: tuple[Study, Runs]) -> None:
    study, known = runs
    page = build_page(build_report(study, known))
    text = page.text(study, "7", "abc", 20_000)
    first, links, about, *_ = text.split("\n\n")
    assert first == page.sentence
    assert "[Results](#/experiments/7/runs?workflowType=machine_learning&viewStateShareKey=means)" in links
    assert "[Report](#/experiments/7/runs/abc/artifacts/report.html)" in links
    assert about == study.about
    table = next(part for part in text.split("\n\n") if part.startswith("| arm"))
    assert all("&emsp; |" in line for line in table.splitlines() if not line.startswith("| ---"))
    assert text.count(study.about) == 1
    assert page.metrics["runs/done"] == 15


def test_what_does_not_fit_is_cut_from_the_end_and_it_says_where_it_is(runs: tuple[Study, Runs]) -> None:
    study, known = runs
    text = build_page(build_report(study, known)).text(study, "7", "abc", 1200)
    assert len(text) <= 1200
    assert text.endswith("The rest is in the [report](#/experiments/7/runs/abc/artifacts/report.html).")
    assert text.startswith("**avgk** is best")


@pytest.mark.parametrize(("limit", "kept"), [(60, ["one", "two", "three"]), (20, ["one"]), (16, [])])
def test_sections_are_kept_whole_and_in_their_order(limit: int, kept: list[str]) -> None:
    text = fit(["head"], ["one", "two", "three"], [], "rest", limit)
    assert text.split("\n\n") == (["head", *kept] if len(kept) == 3 else ["head", *kept, "rest"])


def test_the_figure_is_a_small_artifact_of_the_study(runs: tuple[Study, Runs], tmp_path: Any) -> None:
    study, known = runs
    (tmp_path / "metrics-1.png").write_bytes(b"")
    page = build_page(build_report(study, known), [tmp_path / "report.md", tmp_path / "metrics-1.png"])
    assert page.figure == tmp_path / "metrics-1.png"
    assert page.text(study, "7", "abc", 20_000).endswith("![figure](get-artifact?path=preview.png&run_uuid=abc)")
    assert replace(page, figure=None).text(study, "7", "abc", 20_000).count("get-artifact") == 0
