"""From a study to the configuration of one run."""

from __future__ import annotations

from collections.abc import Callable

from setsweep.sweeps.study.configuration import plain_config
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import Optimizer

Read = Callable[..., Study]


def test_every_run_of_a_study_is_a_legal_configuration(read_text: Read, example: str) -> None:
    study = read_text(example)
    arm = study.arms["avgk"]
    plain = plain_config(study, arm, {"data.label_noise": 0.2}, {"loss.alpha": 3.0}, seed=4, test=True)
    config = complete_config(plain)
    assert (config.loss["name"], config.loss["alpha"], config.loss["k"]) == ("avgk", 3.0, 2)
    assert config.data["label_noise"] == 0.2
    assert config.training.optimizer == Optimizer(lr=0.05, momentum=0.9, nesterov=True)
    assert (config.k, config.seed, config.test) == ((2, 3), 4, True)
    assert study.data["label_noise"] == 0.0, "the study stays as it is"
