"""Losses and metrics of one's own in a study, as the documents tell it: read, searched, checked, trained."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.text.errors import StudyError


def _block(kind: str, having: str, document: str = "losses") -> str:
    """The document's block of code of that kind that has that text."""
    text = (Path(__file__).parents[2] / document / "README.md").read_text()
    [found] = [block for block in re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) if having in block]
    return str(found)


STUDY = _block("yaml", "my_losses:sharpened")


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The study's folder with the module, where Python finds it."""
    monkeypatch.syspath_prepend(folder)
    (folder / "my_losses.py").write_text(_block("python", "# my_losses.py"))
    (folder / "my_metrics.py").write_text(_block("python", "# my_metrics.py", "trainables"))
    (folder / "my-loss.yaml").write_text(STUDY)
    yield folder
    for module in ("my_losses", "my_metrics"):
        sys.modules.pop(module, None)


def test_the_documented_study_searches_and_reports_the_documented_loss(
    here: Path, setsweep: Callable[..., Any]
) -> None:
    said = setsweep("run", "my-loss.yaml", "--in-process")
    assert said.code == 0, said
    report = json.loads((here / "setsweep-results" / "my-loss" / "report" / "report.json").read_text())
    chosen = {each["arm"]: each["params"] for each in report["aggregates"] if each["stage"] == "confirm"}
    assert 0.5 <= chosen["mine"]["gamma"] <= 5.0
    accuracy = {each["arm"]: each["mean"] for each in report["aggregates"] if each["metric"] == "test/top2_accuracy"}
    assert accuracy["mine"] > 0.5  # chance: 0.2


def test_the_documented_test_of_the_loss_passes() -> None:
    names: dict[str, Any] = {}
    exec(_block("python", "CHECKS"), names)
    for check in names["CHECKS"]:
        names["test_my_loss_keeps_the_contract"](check)


def test_reading_a_study_imports_nothing_of_it() -> None:
    study = read_study("my-loss.yaml")
    assert study.arms["mine"].searched["loss.gamma"].default == 2.0
    assert study.arms["mine"].fixed == {"loss.k": 2}
    assert "my_losses" not in sys.modules


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gamma: default_space", "gama: 1", "8: arms.mine.gama: unknown hyperparameter 'gama'. Did you mean 'gamma'?"),
        ("gamma: default_space", "gamma: -1", "8: arms.mine.gamma: must be >= 0, got -1."),
        ("my_losses:sharpened", "my_losses:sharp", "8: arms.mine.loss: must be a loss that can be read from my_losses"),
        (
            "my_losses:sharpened",
            "my_loss:sharp",
            "8: arms.mine.loss: must be in a module in this folder or on PYTHONPA",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(here: Path, old: str, new: str, said: str) -> None:
    (here / "my-loss.yaml").write_text(STUDY.replace(old, new))
    with pytest.raises(StudyError) as caught:
        read_study("my-loss.yaml")
    assert f"my-loss.yaml:{said}" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            ".pow(gamma) * likely",
            ".pow(gamma) @ likely",
            "must give one value per example, (5,), got ().",
        ),
        ("def sharpened", "from os import getcwd as sharpened\ndef sharp", "must be a loss that can be read from"),
    ],
)
def test_a_loss_that_breaks_the_contract_is_refused_before_training(
    here: Path, setsweep: Callable[..., Any], old: str, new: str, said: str
) -> None:
    module = here / "my_losses.py"
    module.write_text(module.read_text().replace(old, new))
    ran = setsweep("run", "my-loss.yaml", "--in-process")
    assert (ran.code, said in ran.err) == (2, True), ran


def test_a_loss_of_a_module_elsewhere_is_refused_unless_that_is_allowed(
    here: Path, setsweep: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "losses_of_a_stranger.py").write_text((here / "my_losses.py").read_text())
    monkeypatch.syspath_prepend(elsewhere)
    (here / "my-loss.yaml").write_text(STUDY.replace("my_losses:sharpened", "losses_of_a_stranger:sharpened"))
    ran = setsweep("run", "my-loss.yaml", "--in-process")
    assert ran.code == 2
    assert "loss.name must be a function of a module in the study's folder, or of a package that --allow" in ran.err
    assert "losses_of_a_stranger" not in sys.modules


RANK = "test/my_metrics:mean_rank"
WITH_METRIC = (
    STUDY.replace("k: [2]", "k: [2]\nmetrics: [my_metrics:mean_rank]")
    .replace(", gamma: default_space", "")
    .partition("search:")[0]
    + f"confirm: {{seeds: 2}}\ncompare: {{metrics: [test/top2_accuracy, {RANK}]}}\n"
)


def test_a_metric_of_ones_own_is_aggregated_compared_and_shown_like_the_others(
    here: Path, setsweep: Callable[..., Any]
) -> None:
    (here / "my-loss.yaml").write_text(WITH_METRIC)
    said = setsweep("run", "my-loss.yaml", "--in-process")
    assert said.code == 0, said
    report = json.loads((here / "setsweep-results" / "my-loss" / "report" / "report.json").read_text())
    ranks = [each for each in report["aggregates"] if each["metric"] == RANK and each["stage"] == "confirm"]
    assert {each["arm"] for each in ranks} == {"cross_entropy", "mine"}
    assert all(
        -4.5 < each["mean"] < 0 and each["ci_low"] < each["mean"] and each["n"] == 2 for each in ranks
    )  # chance: -4.5
    assert [each["metric"] for each in report["comparisons"]].count(RANK) == 1
    assert "mean rank" in (here / "setsweep-results" / "my-loss" / "report" / "report.md").read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("my_metrics:mean_rank]\n", "my_metrics]\n", "must be package.module:function, got 'my_metrics'."),
        ("my_metrics:mean_rank]\n", "a:b, a:b]\n", "metrics: must be a list of distinct values, got ['a:b', 'a:b']."),
        (
            RANK,
            "test/my_metrics:mean_ran",
            "unknown test metric 'test/my_metrics:mean_ran'. Did you mean 'test/my_metrics:mean_rank'?",
        ),
        ("my_metrics:mean_rank]\n", "my_metrics:mode]\n", "my_metrics has none of that name"),
        (
            "my_metrics:mean_rank]\n",
            "setsweep.losses.focal:focal]\n",
            "must be a function of a module in the study's fold",
        ),
    ],
)
def test_a_metric_that_can_not_be_measured_is_refused_before_training(
    here: Path, setsweep: Callable[..., Any], old: str, new: str, said: str
) -> None:
    text = WITH_METRIC.replace(old, new)
    (here / "my-loss.yaml").write_text(text if old == RANK else text.partition("compare:")[0])
    ran = setsweep("run", "my-loss.yaml", "--in-process")
    assert ran.code == 2
    assert said in ran.err
