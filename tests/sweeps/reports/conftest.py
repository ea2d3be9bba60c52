"""Three arms on two points with a search, their made-up results, and the reports of these."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.reports.report import Report, build_report
from setsweep.sweeps.study.study import Study


@pytest.fixture
def study(make_study: Callable[..., Study]) -> Study:
    return make_study()


@pytest.fixture
def report(study: Study, results: Any) -> Report:
    """The report of a study all of whose runs went well."""
    return build_report(study, results(study))


@pytest.fixture
def wounded(study: Study, results: Any, finished: Any, failed: Any) -> Report:
    """A report with a dead seed in the confirmation, at both points, and one in the search."""

    def outcome(run: Any) -> Any:
        if (run.arm, run.seed) == ("noised", 101):
            return failed(run, "CUDA | out_of_memory\nand a trace")
        return failed(run) if (run.trial, run.seed) == (3, 1) else finished(run)

    return build_report(study, results(study, outcome))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The figures that are drawn, by the name of their file, which is not written: that takes longest."""
    from setsweep.sweeps.reports import figures, published_figure, sensitivity_figure

    kept: dict[str, Any] = {}

    def keep(figure: Any, path: Path) -> Path:
        kept[path.name] = figure
        return path

    for module in (figures, published_figure, sensitivity_figure):
        monkeypatch.setattr(module, "save", keep)
    return kept


@pytest.fixture
def title_of() -> Callable[[Any], str]:
    """Calls give a figure's title in one line."""
    return lambda figure: " ".join(figure.get_suptitle().split())
