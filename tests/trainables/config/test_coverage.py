"""Which conformal sets a run is measured by: what is legal, and what is part of a run's key."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_config import RunConfig, without_later
from setsweep.trainables.conformal.how import Conformal
from setsweep.trainables.settings.problems import ConfigError

PLAIN = {"data": {"name": "digits"}, "model": {"name": "mlp"}, "loss": {"name": "cross_entropy"}, "k": 2}


def made(**more: Any) -> RunConfig:
    return complete_config({**PLAIN, **more})


def test_one_coverage_is_a_list_of_one() -> None:
    assert made(coverage=0.9).coverage == (0.9,)
    assert made(coverage=[0.9, 0.95]).coverage == (0.9, 0.95)
    assert made().coverage == ()


def test_one_score_is_a_list_of_one_and_the_rest_has_its_defaults() -> None:
    found = made(coverage=0.9, conformal={"scores": "raps", "calibrations": ["marginal", "classwise"]}).conformal
    assert found == Conformal(scores=("raps",), calibrations=("marginal", "classwise"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"coverage": 1}, "coverage must be > 0 and < 1, got 1."),
        ({"coverage": 0.0}, "coverage must be > 0 and < 1, got 0.0."),
        ({"coverage": [0.9, 90]}, "coverage must be > 0 and < 1, got 90."),
        ({"coverage": [0.95, 0.9]}, "coverage must be ascending, got [0.95, 0.9]."),
        ({"coverage": []}, "coverage must be a share or a list of some, got []."),
        ({"coverage": "most"}, "coverage must be a list, got 'most'."),
        (
            {"coverage": 0.9, "conformal": {"scores": "thr"}},
            "conformal.scores must be one of lac, aps, raps, saps, pas, got 'thr'.",
        ),
        (
            {"coverage": 0.9, "conformal": {"scores": ["lac", "lac"]}},
            "conformal.scores must be one or more of lac, aps, raps, saps, pas, each once, got ['lac', 'lac'].",
        ),
        (
            {"coverage": 0.9, "conformal": {"calibration": "classwise"}},
            "conformal.calibration: unknown setting 'calibration'. Did you mean 'calibrations'? Known: ",
        ),
        ({"coverage": 0.9, "conformal": {"saps_weight": 0}}, "conformal.saps_weight must be > 0, got 0."),
        (
            {"coverage": 0.9, "conformal": {"interpolation": 2}},
            "conformal.interpolation must be between 0 and 1, got 2.",
        ),
        ({"conformal": {"scores": "lac"}}, "conformal must be left out without coverage, got scores."),
        ({"coverage": 0.9, "conformal": 3}, "conformal must be a mapping, got 3."),
        ({"data": {"name": "digits", "calibration": 1}}, "data.calibration must be >= 0 and < 1, got 1."),
    ],
)
def test_what_is_wrong_is_told(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(**fields)
    assert str(caught.value).startswith(message)


def test_a_run_without_conformal_sets_is_the_run_that_it_was_before_there_were_any() -> None:
    plain = made().to_dict()
    assert not {"coverage", "conformal"} & plain.keys()
    assert plain["data"]["calibration"] == 0
    assert "calibration" not in without_later(plain)["data"]
    assert made().key == "0d3cab0c7d9d5166"  # as it was at the commit before


def test_settings_at_their_defaults_are_no_part_of_the_key_and_others_are() -> None:
    plain = made(coverage=0.9, conformal={"saps_weight": 0.3}).to_dict()
    assert without_later(plain)["conformal"] == {"saps_weight": 0.3}
    keys = [made(coverage=0.9, conformal=each).key for each in ({}, {"saps_weight": 0.2}, {"saps_weight": 0.3})]
    assert keys[0] == keys[1] != keys[2]
    assert (
        len({made().key, keys[0], made(coverage=0.95).key, made(data={"name": "digits", "calibration": 0.5}).key}) == 4
    )


def test_plain_data_give_the_configuration_back() -> None:
    config = made(coverage=[0.8, 0.9], conformal={"scores": ["pas", "saps"], "randomized": True})
    again = RunConfig.from_dict(config.to_dict())
    assert again == config
    assert complete_config(config.to_dict()) == config
    assert config.with_seed(7).key == complete_config({**config.to_dict(), "seed": 7}).key
