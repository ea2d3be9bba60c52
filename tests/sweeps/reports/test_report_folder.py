from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.report_folder import write_report
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Compare


def png_size(path: Path) -> tuple[int, int]:
    """Width and height in pixels, from the file's header."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_a_folder_has_the_report_in_every_format_and_its_figures(study: Any, results: Any, tmp_path: Path) -> None:
    paths = write_report(build_report(study, results(study)), tmp_path / "new" / "folder")
    assert names(paths)[:5] == ["report.md", "report.json", "report.csv", "report.tex", "report.html"]
    assert names(paths)[5:] == [
        "metrics-1.png",
        "differences-1.png",
        "differences-2.png",
        "sensitivity-1.png",
        "sensitivity-2.png",
    ]
    assert all(min(png_size(path)) > 300 for path in paths[5:])
    assert (tmp_path / "new" / "folder" / "report.html").read_text().count("data:image/png;base64,") == 5


def test_equal_results_give_equal_bytes(study: Any, results: Any, tmp_path: Path) -> None:
    runs = results(study)
    first = write_report(build_report(study, runs), tmp_path / "a")
    second = write_report(build_report(study, runs[::-1]), tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_study_without_results_has_no_figures(study: Any, tmp_path: Path) -> None:
    paths = write_report(build_report(study, []), tmp_path)
    assert not [name for name in names(paths) if name.endswith("png")]


@pytest.mark.parametrize(
    "grid",
    [
        {},
        {"data.name": ("circle", "digits")},
        {"training.batch_size": (32, 128, "full")},
        {"training.batch_size": (4096, 32, 128), "data.name": ("circle", "digits")},
    ],
)
def test_any_grid_can_be_drawn(make_study: Any, results: Any, tmp_path: Path, grid: Any) -> None:
    study = make_study(grid=grid)
    paths = write_report(build_report(study, results(study)), tmp_path)
    drawn = [name for name in names(paths) if name.startswith("metrics")]
    # Over a numeric key one figure for each value of the other; otherwise one for each point.
    assert len(drawn) == (2 if "data.name" in grid else 1)


def test_a_choice_is_drawn_without_numbers_and_one_seed_without_interval(
    make_study: Any, results: Any, tmp_path: Path
) -> None:
    space = Space(kind="choice", choices=(*(0.1 * 4**trial for trial in range(4)), "full"))
    arms = {"avgk": Arm(name="avgk", loss="avgk", searched={"training.batch_size": space})}
    study = make_study(arms=arms, grid={}, confirm_seeds=(100,), compare=Compare())
    paths = write_report(build_report(study, results(study)), tmp_path)
    assert names(paths)[5:] == ["metrics-1.png", "sensitivity-1.png"]


def test_dead_arms_and_unfinished_studies_can_be_drawn(
    study: Any, results: Any, finished: Any, failed: Any, tmp_path: Path
) -> None:
    def outcome(run: Any) -> Any:
        if run.arm == "cross_entropy":
            return failed(run)
        return None if run.point["data.label_noise"] else finished(run)

    paths = write_report(build_report(study, results(study, outcome)), tmp_path)
    assert "metrics-1.png" in names(paths)
    assert "differences-1.png" not in names(paths)


def test_a_report_can_be_shown_without_waiting_for_matplotlib() -> None:
    modules = "sys, setsweep.sweeps.reports.formats, setsweep.sweeps.reports.report_folder"
    code = f"import {modules}; print('matplotlib' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
