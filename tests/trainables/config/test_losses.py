"""A loss of one's own in a configuration: read from its text, trained as those of the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from setsweep.data import load_dataset
from setsweep.data.user_function import source_of
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import KeepModel, RunConfig
from setsweep.trainables.config.sections import declared_settings
from setsweep.trainables.evaluation.predictor import SetPredictor
from setsweep.trainables.loop import train, train_seeds
from setsweep.trainables.settings.problems import ConfigError

MODULE = """
from setsweep.losses.checks import at_labels
from setsweep.losses.own import declares

@declares(ranges={"gamma": {"low": 0.0, "search": {"log_uniform": (0.1, 10.0)}}}, revision=REVISION)
def sharpened(scores, labels, *, k, gamma: float = 2):
    likely = at_labels(scores.log_softmax(1), labels)
    return -(-likely.expm1()).clamp_min(1e-30).pow(gamma) * likely
"""


@pytest.fixture(autouse=True)
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """A package `ours` with a module `own_losses` where Python finds it."""
    (tmp_path / "ours").mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def put(revision: int) -> None:
        (tmp_path / "ours" / "own_losses.py").write_text(MODULE.replace("REVISION", str(revision)))
        sys.path.insert(0, str(tmp_path))  # a list of places that nothing is remembered for

    put(0)
    yield put
    for name in [name for name in sys.modules if name.partition(".")[0] == "ours"]:
        del sys.modules[name]


def _config(loss: dict[str, Any], **changes: Any) -> RunConfig:
    training = {"epochs": 2, "batch_size": 64, "device": "cpu", "optimizer": {"lr": 0.5}}
    plain = {"data": {"name": "digits"}, "model": {"name": "linear"}, "training": training, "k": 2, "loss": loss}
    return complete_config(plain | changes)


def test_its_settings_are_those_of_its_signature_and_nothing_is_imported() -> None:
    known = declared_settings("loss", {"name": "ours.own_losses:sharpened"})
    assert list(known) == ["gamma", "k"]
    assert known["gamma"].search == {"log_uniform": (0.1, 10.0)}
    assert not {"ours", "ours.own_losses"} & set(sys.modules)


def test_a_hyperparameter_left_out_and_the_same_spelled_out_are_one_run() -> None:
    short, long = (
        _config({"name": "ours.own_losses:sharpened"}),
        {"name": "ours.own_losses:sharpened", "gamma": 2, "k": 2},
    )
    assert short.loss == {"name": "ours.own_losses:sharpened", "gamma": 2.0, "k": 2}
    assert short.key == _config(long).key


def test_a_raised_revision_makes_it_another_run(write: Callable[[int], None]) -> None:
    before = _config({"name": "ours.own_losses:sharpened"}).key
    write(1)
    assert _config({"name": "ours.own_losses:sharpened"}).key != before


def test_it_trains_as_that_of_the_table_does_and_its_model_predicts_without_it(tmp_path: Path) -> None:
    keep = KeepModel(folder=tmp_path / "model", criterion="top2_accuracy")
    own = train(_config({"name": "ours.own_losses:sharpened", "gamma": 3}), keep_model=keep)
    focal = train(_config({"name": "focal", "gamma": 3}))
    assert own.metrics["test/top2_accuracy"] == pytest.approx(focal.metrics["test/top2_accuracy"], abs=0.01)  # rounding
    assert own.metrics["test/top2_accuracy"] > 0.8  # chance: 0.2
    (tmp_path / "ours" / "own_losses.py").unlink()
    loss_declaration.__globals__["_own"].cache_clear()
    assert SetPredictor(tmp_path / "model").num_classes == 10


def test_seeds_together_give_what_each_gives_alone() -> None:
    configs = [_config({"name": "ours.own_losses:sharpened"}, seed=seed) for seed in (0, 1)]
    together = train_seeds(configs, datasets=[load_dataset(config.data, seed=config.seed) for config in configs])
    for config, result in zip(configs, together, strict=True):
        assert result.metrics["val/top2_accuracy"] == pytest.approx(
            train(config).metrics["val/top2_accuracy"], abs=0.01
        )


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ({"name": "ours.own_losses:blurred"}, "loss.name must be a loss that can be read from ours.own_losses, got "),
        ({"name": "theirs:loss"}, "loss.name must be in a module in this folder or on PYTHONPATH, got 'theirs:loss'; "),
        ({"name": "a b:c"}, "loss.name must be a loss's name or package.module:function, got 'a b:c'."),
        ({"name": "ours.own_losses:sharpened", "gama": 1}, "loss.gama unknown hyperparameter 'gama'. Did you mean"),
        ({"name": "ours.own_losses:sharpened", "gamma": -1}, "loss.gamma must be >= 0, got -1."),
    ],
)
def test_what_is_wrong_is_told_before_training(loss: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _config(loss)
    assert str(caught.value).replace("loss.gama: ", "loss.gama ").startswith(said)


@pytest.mark.parametrize("module", ["itertools", "no_such", "ours.no_such", "no_such.at.all"])
def test_a_module_without_text_has_none(module: str) -> None:
    assert source_of(module) is None
