"""The runs that are being trained now, and how a line says what they have come to."""

from __future__ import annotations

from setsweep.sweeps.execution.news import Moment
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.running import Running, RunningRun, live_metric
from setsweep.sweeps.study.study import Search, Study

METRIC = "val/top2_accuracy"


def test_a_line_has_run_epoch_loss_and_metric() -> None:
    run = RunningRun(key="a", arm="avgk", seed=3, params={"alpha": 0.31623})
    assert run.text(METRIC) == "avgk, alpha = 0.316, seed 3: begun"
    told = RunningRun(key="a", arm="avgk", seed=3, epoch=4, epochs=10, metrics={"train/loss": 1.20344, METRIC: 0.88314})
    assert told.text(METRIC) == "avgk, seed 3: epoch 4 of 10, loss 1.203, val/top2_accuracy 88.31 %"
    assert told.text("val/avg9_accuracy") == "avgk, seed 3: epoch 4 of 10, loss 1.203"
    assert (run.share, told.share) == (0.0, 0.4)


def test_only_runs_that_have_begun_and_not_ended_are_kept(study: Study) -> None:
    first, second, third = (run for run, _ in Planner(study).runs()[:3])
    running = Running()
    for run in (first, second):
        running.started(run)
    running.news([Moment(key=run.key, epoch=2, epochs=3, metrics={"train/loss": 1.0}) for run in (second, third)])
    running.finished(first.key)
    running.finished(third.key)
    assert [(run.key, run.epoch) for run in running.runs.values()] == [(second.key, 2)]
    assert len(running) == 1


def test_what_is_shown_is_the_objective_or_average_k_at_the_first_k(study: Study) -> None:
    from dataclasses import replace

    assert live_metric(study) == "val/avg2_accuracy"
    searched = replace(study, search=Search(trials=2, objective=METRIC, seeds=(1000,)))
    assert live_metric(searched) == METRIC
