"""What each arm was given, so that 'tuned against untuned' is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.statistics.spent import Spent, spent
from setsweep.sweeps.study.study import Arm, Study
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import RunResult

CONFIG = complete_config(
    {"data": {"name": "digits"}, "model": {"name": "linear"}, "loss": {"name": "avgk"}, "k": [2], "seed": 0}
)
SETTINGS: dict[str, Any] = {"data": {"name": "digits"}, "model": {"name": "linear"}, "training": {}, "k": (2,)}
STUDY = Study(
    name="budgets",
    arms={"tuned": Arm(name="tuned", loss="avgk"), "plain": Arm(name="plain", loss="cross_entropy")},
    **SETTINGS,
)


def _runs(
    arm: str, stage: Any, alphas: Sequence[float], *, noise: float = 0.0, ended: bool = True
) -> list[tuple[PlannedRun, RunResult | None]]:
    found: list[tuple[PlannedRun, RunResult | None]] = []
    for number, alpha in enumerate(alphas):
        trial = number if stage == "search" else None
        point = {"data.label_noise": noise}
        candidate = Candidate(arm=arm, point=point, stage=stage, trial=trial, params={"alpha": alpha})
        run = PlannedRun(candidate=candidate, config=CONFIG.with_seed(number))
        found.append((run, RunResult(key=run.key, status="done") if ended else None))
    return found


def test_an_arm_that_is_not_searched_has_one_configuration() -> None:
    rows = spent(STUDY, _runs("plain", "confirm", [1.0, 1.0, 1.0]))
    assert rows[1] == Spent(arm="plain", configurations=1, search_runs=0, confirm_runs=3)


def test_seeds_of_one_configuration_are_runs_and_no_further_configurations() -> None:
    runs = [*_runs("tuned", "search", [0.1, 0.1, 1.0, 1.0, 10.0]), *_runs("tuned", "confirm", [1.0, 1.0])]
    assert spent(STUDY, runs)[0] == Spent(arm="tuned", configurations=3, search_runs=5, confirm_runs=2)


def test_configurations_are_those_of_the_point_that_has_most() -> None:
    """Two points of the grid, of three and of two: what an arm could choose among at one of them is three."""
    runs = [*_runs("tuned", "search", [0.1, 1.0, 10.0]), *_runs("tuned", "search", [0.2, 2.0], noise=0.2)]
    assert spent(STUDY, runs)[0].configurations == 3
    assert spent(STUDY, runs)[0].search_runs == 5


def test_runs_without_a_result_are_not_spent_yet() -> None:
    assert spent(STUDY, _runs("tuned", "search", [0.1, 1.0], ended=False))[0].search_runs == 0
