"""A report as a folder of files."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.reports import figures
from setsweep.sweeps.reports.formats import latex
from setsweep.sweeps.reports.report import build_report
from setsweep.sweeps.reports.report_folder import write_report


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
    assert names(paths)[:6] == [
        *(f"report.{ending}" for ending in ("md", "json", "csv", "tex")),
        "comparisons.csv",
        "report.html",
    ]
    assert names(paths)[6:] == [
        "metrics-1.png",
        "differences-1-label_noise-0.png",
        "differences-2-label_noise-0.2.png",
        "sensitivity-1-label_noise-0.png",
        "sensitivity-2-label_noise-0.2.png",
    ]
    assert all(min(png_size(path)) > 300 for path in paths[6:])
    assert (tmp_path / "new" / "folder" / "report.html").read_text().count("data:image/webp;base64,") == 5


def test_equal_results_give_equal_bytes(study: Any, results: Any, tmp_path: Path) -> None:
    runs = results(study)
    first = write_report(build_report(study, runs), tmp_path / "a")
    second = write_report(build_report(study, runs[::-1]), tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_report_can_be_shown_without_waiting_for_matplotlib() -> None:
    modules = "sys, setsweep.sweeps.reports.formats, setsweep.sweeps.reports.report_folder"
    code = f"import {modules}; print('matplotlib' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_what_cannot_be_drawn_or_written_costs_nothing_else_and_is_said(
    study: Any, results: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: Any) -> Any:
        raise KeyError(0.2)

    report = build_report(study, results(study))
    whole = names(write_report(report, tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(figures, "draw_sensitivity", broken)
        patched.setattr(latex, "text", broken)
        paths = write_report(report, tmp_path)
    left_out = {"sensitivity-1-label_noise-0.png", "sensitivity-2-label_noise-0.2.png", "report.tex"}
    assert set(names(paths)) == set(whole) - left_out | {"problems.txt"}
    for name in ("report.md", "report.html"):
        told = (tmp_path / name).read_text()
        assert "sensitivity-1-label_noise-0.png is missing, for an error in drawing it: KeyError(0.2)." in told
    traced = (tmp_path / "problems.txt").read_text()
    assert traced.count("Traceback") == 3
    assert "report.tex" in traced
    assert names(write_report(report, tmp_path)) == whole
    assert not (tmp_path / "problems.txt").exists()


def test_a_folder_that_cannot_be_written_is_an_error(study: Any, results: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write_report(build_report(study, results(study)), tmp_path / "file")
