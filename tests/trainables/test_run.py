"""A run that is trained from one evaluation to the next: the numbers of `train`, whatever happens in between."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from setsweep.data import load_dataset
from setsweep.trainables.loop import train
from setsweep.trainables.run import Run
from setsweep.trainables.settings.problems import ConfigError


def started(config: Any) -> Run:
    return Run(config, dataset=load_dataset(config.data, seed=config.seed))


def to_the_end(run: Run) -> dict[str, list[float]]:
    """Its curves."""
    while not run.over:
        run.to_next_evaluation()
    return run.history.curves


def test_an_evaluation_at_a_time_it_has_the_curves_of_train(make_config: Any) -> None:
    config = make_config(training={"epochs": 5, "evaluate_every": 2})
    run = started(config)
    epochs = []
    while not run.over:
        run.to_next_evaluation()
        epochs.append(run.epoch)
    assert epochs == [2, 4, 5]  # every second epoch, and the last
    whole = train(config)
    assert tuple(run.history.epochs) == whole.epochs == (2, 4, 5)
    assert {name: tuple(curve) for name, curve in run.history.curves.items()} == whole.curves


@pytest.mark.usefixtures("own_models")
def test_runs_that_take_turns_do_not_see_each_others_dropout(make_config: Any) -> None:
    configs = [make_config(seed=seed, model={"name": "own_models:with_dropout"}) for seed in (3, 5)]
    runs = [started(config) for config in configs]
    while not all(run.over for run in runs):
        for run in runs:
            run.to_next_evaluation()
    for run, config in zip(runs, configs, strict=True):
        assert {name: tuple(curve) for name, curve in run.history.curves.items()} == train(config).curves


def test_pytorchs_generators_are_left_as_they_were(make_config: Any) -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    run = started(make_config())
    run.to_next_evaluation()
    run.state()
    assert torch.equal(torch.get_rng_state(), before)


def test_it_goes_on_from_what_was_saved_as_if_nothing_had_been(make_config: Any) -> None:
    config = make_config()
    first = started(config)
    first.to_next_evaluation()
    state = first.state()
    second = started(config)
    second.restore(state)
    assert second.epoch == 1
    assert to_the_end(second) == to_the_end(started(config))


def test_what_may_change_in_between_may_and_what_may_not_is_refused(make_config: Any) -> None:
    first = started(make_config())
    first.to_next_evaluation()
    started(make_config(training={"optimizer": {"lr": 0.1}})).restore(first.state())
    with pytest.raises(ConfigError, match="model"):
        started(make_config(model={"name": "mlp", "hidden": 8})).restore(first.state())


def test_a_state_of_another_kind_of_device_is_refused(make_config: Any) -> None:
    run = started(make_config())
    with pytest.raises(ConfigError, match=r"^training\.device must be cuda, as in the checkpoint, got 'cpu'\.$"):
        run.restore(run.state() | {"device": "cuda"})


def test_a_run_that_diverges_is_over(make_config: Any) -> None:
    run = started(make_config(training={"optimizer": {"lr": 1e30, "weight_decay": 1}}))
    for _ in range(4):
        if not run.over:
            run.to_next_evaluation()
    assert run.over
    assert run.epoch < 4
