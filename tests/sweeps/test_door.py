"""The door from Python: the same studies, results as data frames, models that predict."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setsweep.data import load_dataset
from setsweep.sweeps import read_study, report, run_study
from setsweep.sweeps.sweep.loop import Sweep
from setsweep.sweeps.sweep.result import StudyResult

SMALL: dict[str, Any] = {
    "study": "small",
    "data": {"name": "digits"},
    "model": {"name": "mlp", "hidden": 16},
    "training": {"epochs": 2, "batch_size": 256},
    "k": [1, 2],
    "arms": {"cross_entropy": {}, "avgk": {"alpha": {"log_uniform": [0.1, 10]}}},
    "search": {"trials": 3, "seeds": 1},
    "confirm": {"seeds": 2, "default": False},
    "compare": {"baseline": "cross_entropy"},
}
EXAMPLE = re.compile(r"## From Python\n.*?```python\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("door")


@pytest.fixture(scope="module")
def result(home: Path) -> StudyResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        return run_study(SMALL, storage=home / "results", in_process=True, progress=False)


def test_aggregates_are_means_with_intervals(result: StudyResult) -> None:
    chosen = result.aggregates.query("stage == 'confirm' and metric == 'test/avg2_accuracy'").set_index("arm")
    assert list(chosen.index) == ["cross_entropy", "avgk"]
    assert (chosen["n"] == 2).all()
    assert (chosen["planned"] == 2).all()
    assert (chosen["ci_low"] < chosen["mean"]).all()
    for _, row in chosen.iterrows():
        assert row["mean"] == pytest.approx(sum(row["values"].values()) / 2, rel=1e-12)
    assert 0.1 <= chosen.loc["avgk", "params.alpha"] <= 10
    assert set(result.aggregates["trial"].dropna()) == {0, 1, 2}


def test_comparisons_and_runs_are_frames_of_their_own(result: StudyResult) -> None:
    assert set(result.comparisons["arm"]) == {"avgk"}
    assert set(result.comparisons["baseline"]) == {"cross_entropy"}
    assert {"difference", "p", "p_corrected", "n", "role", "effect", "detectable"} <= set(result.comparisons.columns)
    assert len(result.runs) == 3 + 2 + 2
    assert (result.runs["status"] == "done").all()
    assert result.runs["key"].is_unique
    assert len(result.failed) == 0
    assert result.complete
    assert result.failed.columns.equals(result.runs.columns)


def test_reports_and_figures_are_those_of_the_command_line(result: StudyResult, setsweep: Any, home: Path) -> None:
    assert result.report("csv") == setsweep("report", "small", "--storage", home / "results", "--format", "csv").out
    assert result.report().startswith("# small")
    assert [path.suffix for path in result.figures] == [".png"] * len(result.figures)
    assert all(path.stat().st_size > 1000 for path in result.figures)
    with pytest.raises(ValueError, match=r"^format must be one of csv, html"):
        result.report("word")


def test_the_kept_model_predicts_sets(result: StudyResult) -> None:
    images = load_dataset({"name": "digits"}, seed=0).test.inputs
    assert images is not None
    sets = result.best_model("avgk").predict(images[:50].numpy(), params={"k": 2})  # type: ignore[index]
    assert (sets.shape, sets.dtype) == ((50, 10), np.dtype(bool))  # type: ignore[union-attr]
    with pytest.raises(ValueError, match=r"^arm must be one of cross_entropy, avgk, got 'avg_k'\.$"):
        result.best_model("avg_k")
    with pytest.raises(ValueError, match=r"^point must be one of \[\{\}\], got \{'data.label_noise': 0.2\}\.$"):
        result.best_model("avgk", {"data.label_noise": 0.2})


def test_a_finished_study_is_read_and_not_run(result: StudyResult, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: object) -> None:
        raise AssertionError("nothing may be run")

    monkeypatch.setattr(Sweep, "run", run)
    monkeypatch.chdir(home)
    again = report(home / "results", "small")
    assert again.aggregates.equals(result.aggregates)
    once_more = run_study(SMALL, storage=home / "results", in_process=True, progress=False)
    assert once_more.comparisons.equals(result.comparisons)


def test_a_study_that_was_never_run_has_no_report(home: Path) -> None:
    with pytest.raises(ValueError, match=r"^study 'demo' must have been run in .*nowhere', got no journal in"):
        report(home / "nowhere", "demo")


def test_errors_are_those_of_a_study_without_lines() -> None:
    with pytest.raises(ValueError, match=r"^study: k: must be between 1 and num_classes - 1 = 9, got 10\.$"):
        read_study({**SMALL, "k": [1, 10]})
    with pytest.raises(ValueError, match=r"^study: must be plain data, got Object of type PosixPath"):
        read_study({**SMALL, "data": {"name": Path("digits")}})


def test_a_study_is_the_same_from_a_file_from_its_contents_and_once_read(tmp_path: Path) -> None:
    whole = read_study(SMALL)
    (tmp_path / "small.yaml").write_text(whole.text)
    assert read_study(tmp_path / "small.yaml").protocol() == whole.protocol()
    assert read_study(whole) is whole
    assert read_study(SMALL, ["confirm.seeds=3"]).confirm_seeds == (0, 1, 2)


def test_it_works_inside_a_running_event_loop(result: StudyResult, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async def notebook() -> StudyResult:
        other = {**SMALL, "study": "in-a-loop", "arms": ["cross_entropy"], "search": None}
        return run_study(other, storage=home / "results", in_process=True, progress=False)

    assert len(asyncio.run(notebook()).runs) == 2


def test_ctrl_c_reaches_the_caller_and_what_is_done_is_kept(
    home: Path, result: StudyResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    finish = Sweep._finish
    study = {**SMALL, "study": "stopped"}

    def stop(self: Sweep, *arguments: Any) -> None:
        finish(self, *arguments)
        if self.planner.done == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Sweep, "_finish", stop)
        with pytest.raises(KeyboardInterrupt):
            run_study(study, storage=home / "results", in_process=True, progress=False)
    stopped = report(home / "results", "stopped")
    assert not stopped.complete
    assert (stopped.runs["status"] == "done").sum() == 3
    assert run_study(study, storage=home / "results", in_process=True, progress=False).complete


def test_importing_the_door_imports_nothing_heavy() -> None:
    code = "import sys, setsweep.sweeps; print([m for m in ('torch', 'ray', 'mlflow', 'pandas') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.timeout(200)
def test_the_readmes_example_runs_as_it_stands_on_a_ray_that_the_caller_has_started(folder: Path) -> None:
    """In a process of its own, as a notebook would; the caller's Ray is left running."""
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    found = EXAMPLE.search(readme)
    assert found, "README has no example"
    program = "\n".join(
        [
            "import numpy as np, ray",
            "ray.init(address='local', num_cpus=2, include_dashboard=False, log_to_driver=False)",
            "images = np.zeros((3, 1, 8, 8), np.uint8)",
            found[1],
            "assert ray.is_initialized() and sets.shape == (3, 10) and later.aggregates.equals(result.aggregates)",
        ]
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=180, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "# pairs-of-digits" in ended.stdout
    assert "params.alpha" in ended.stdout
