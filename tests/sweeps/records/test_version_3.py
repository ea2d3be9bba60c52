"""Results of the version before: its journal is read, and a study that is whole there stays whole.

The study in ``version_3`` was run by the first published form of RESULTS_VERSION 3: a search, seeds that train
together, settings in arms and grid, and a grid point at which almost everything diverges.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.samplers.suggestions import Suggestions
from setsweep.sweeps.records.journal import Journal
from setsweep.sweeps.study.defaults import as_begun
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.sweep.loop import Sweep

HERE = Path(__file__).parent / "version_3" / "small"


@pytest.fixture
def storage(folder: Path) -> Path:
    """A storage that holds the study."""
    shutil.copytree(HERE, folder / "results" / "small")
    return folder / "results"


def test_every_result_is_found_under_the_key_that_its_configuration_has_today() -> None:
    journal = Journal(HERE, read_only=True)
    planner = Planner(as_begun(read_study(HERE / "study.yaml"), journal.defaults), journal.results, journal.trials)
    counts = planner.counts()
    assert (counts.done, counts.total, counts.diverged + counts.failed) == (18, 30, 12)
    assert len(journal.group_sizes) == 6


def test_the_protocol_is_the_one_that_was_written_down() -> None:
    journal = Journal(HERE, read_only=True)
    assert journal.study is not None
    assert journal.defaults == 1
    assert journal.study["protocol"] == as_begun(read_study(HERE / "study.yaml"), 1).protocol()


def test_its_trials_are_those_whose_results_are_there_and_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Suggestions, "ask", None)
    journal = Journal(HERE, read_only=True)
    planner = Planner(as_begun(read_study(HERE / "study.yaml"), 1), journal.results, journal.trials)
    trials = {(run.trial, run.params["alpha"]) for run, _ in planner.runs() if run.stage == "search"}
    assert (0, 1.0) in trials
    assert {number for number, _ in trials} == {0, 1, 2}
    assert planner.new_trials() == []


def test_a_study_that_was_begun_under_other_defaults_says_what_it_keeps() -> None:
    study = as_begun(read_study(HERE / "study.yaml"), 1)
    assert study.notes == (
        "search.sampler: tpe, confirm.default: false, as when this study was begun; "
        "what its file says goes before, and --replace begins anew.",
    )


def test_the_study_ends_without_training_anything_and_its_table_is_the_old_one(
    storage: Path, setsweep: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(self: object) -> None:
        raise AssertionError("nothing may be trained")

    monkeypatch.setattr(Sweep, "run", run)
    said = setsweep("run", storage / "small" / "study.yaml", "--storage", storage)
    assert said.code == 1
    assert "All 30 runs of small have ended: 18 done, 12 diverged or failed." in said.err
    report = json.loads(setsweep("report", "small", "--storage", storage, "--format", "json").out)
    (found,) = (
        each
        for each in report["aggregates"]
        if (each["arm"], each["stage"], each["metric"]) == ("noised_topk_hinge", "confirm", "test/top2_accuracy")
        and each["point"] == {"training.optimizer.lr": 0.1}
    )
    assert found["params"] == {"epsilon": 0.2, "num_samples": 3, "k": 1}
    assert found["values"] == {"0": 0.4027777777777778, "1": 0.26666666666666666, "2": 0.4083333333333333}
