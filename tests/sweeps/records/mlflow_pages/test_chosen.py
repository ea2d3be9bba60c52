"""Which trial a recorder takes for the chosen one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow_pages.chosen import Chosen

Run = Callable[..., PlannedRun]


@pytest.fixture
def run(make_study: Any, results: Any) -> Run:
    """Calls give a run of avgk, of a trial or of the confirmation, with this alpha at this noise."""
    template = next(run for run, _ in results(make_study()) if run.arm == "avgk")

    def call(trial: int | None, alpha: float, noise: float = 0.0, arm: str = "avgk") -> PlannedRun:
        stage: Any = "confirm" if trial is None else "search"
        point, params = {"data.label_noise": noise}, {"alpha": alpha}
        own = replace(template.candidate, arm=arm, point=point, params=params, trial=trial, stage=stage)
        return replace(template, candidate=own)

    return call


def test_the_trial_with_the_confirmed_values_at_that_point_is_the_chosen_one(make_study: Any, run: Run) -> None:
    chosen = Chosen(make_study())
    for trial, (alpha, noise) in enumerate([(1.0, 0.0), (2.0, 0.0), (2.0, 0.2)]):
        chosen.saw(run(trial, alpha, noise), f"run {trial}")
    assert chosen.trial(run(None, 2.0)) == "run 1"
    assert chosen.trial(run(None, 2.0, 0.2)) == "run 2"
    assert chosen.text(run(None, 2.0)) == "alpha = 2 (trial 1 of 4)"


def test_of_trials_with_the_same_values_the_first_counts(make_study: Any, run: Run) -> None:
    chosen = Chosen(make_study())
    chosen.saw(run(0, 1.0), "first")
    chosen.saw(run(3, 1.0), "second")
    assert chosen.trial(run(None, 1.0)) == "first"


def test_a_choice_whose_trial_was_not_seen_is_told_by_its_values_alone(make_study: Any, run: Run) -> None:
    chosen = Chosen(make_study())
    assert chosen.trial(run(None, 1.0)) is None
    assert chosen.text(run(None, 1.91)) == "alpha = 1.91"


def test_an_arm_without_a_search_or_one_that_is_gone_has_nothing_chosen(make_study: Any, run: Run) -> None:
    chosen = Chosen(make_study())
    assert chosen.text(run(None, 1.0, arm="noised")) == ""
    assert chosen.text(run(None, 1.0, arm="of before")) == ""
