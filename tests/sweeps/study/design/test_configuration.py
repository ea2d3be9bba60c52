"""From a study to the configuration of one run."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest

from setsweep.sweeps.study.design.configuration import plain_config
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import Optimizer

Read = Callable[..., Study]


@pytest.fixture
def study(read_text: Read, example: str) -> Study:
    return read_text(example, "arms.avgk.training.optimizer.lr=0.3")


def test_every_run_of_a_study_is_a_legal_configuration(read_text: Read, example: str) -> None:
    study = read_text(example)
    arm = study.arms["avgk"]
    plain = plain_config(study, arm, {"data.label_noise": 0.2}, {"loss.alpha": 3.0}, seed=4, test=True)
    config = complete_config(plain)
    assert (config.loss["name"], config.loss["alpha"], config.loss["k"]) == ("avgk", 3.0, 2)
    assert config.data["label_noise"] == 0.2
    assert config.training.optimizer == Optimizer(lr=0.05, momentum=0.9, nesterov=True)
    assert (config.k, config.seed, config.test) == ((2, 3), 4, True)


def test_a_searched_value_goes_before_an_arms_own_and_that_before_the_studys(study: Study) -> None:
    arm = study.arms["avgk"]
    lr = "training.optimizer.lr"
    given = {**arm.fixed, "loss.alpha": 1.0}
    assert given[lr] == 0.3
    for values, expected in (({}, 0.3), ({lr: 0.7}, 0.7)):
        plain = plain_config(study, arm, {}, values, seed=0, test=False)
        assert plain["training"]["optimizer"]["lr"] == expected
    assert plain_config(study, study.arms["cross_entropy"], {}, {}, seed=0, test=False)["training"] == study.training


def test_the_study_stays_as_it_is(study: Study) -> None:
    before = deepcopy((study.data, study.model, study.training, study.arms))
    values = {"training.optimizer.lr": 0.7, "loss.alpha": 2.0}
    plain_config(study, study.arms["avgk"], {"data.label_noise": 0.2, "model.width": 8}, values, seed=0, test=False)
    assert (study.data, study.model, study.training, study.arms) == before
