"""``setsweep papers``: what of the papers is bundled, and how it has come out in a storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.commands.listings import papers
from setsweep.sweeps.study.reader import read_study

PUBLISHED = """\
published:
  - {where: an older paper, metric: test/avg2_accuracy, values: {cross_entropy: [1.0, 0.1], avgk: 99}}
"""


def test_every_table_is_listed_with_its_study_and_its_runs(setsweep: Any) -> None:
    """Three arms, five levels of noise and five seeds are 75 runs."""
    shown = setsweep("papers")
    assert shown.code == 0
    [line] = [each for each in shown.out.splitlines() if "preprint, table 4" in each]
    assert line.split()[-5:] == ["garcin2022-cifar100", "75", "15", "-", "-"]


def test_what_was_found_is_counted(setsweep: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write_text(small.read_text() + PUBLISHED)
    assert setsweep("run", small, "--in-process").code == 0
    monkeypatch.setattr(papers, "bundled_studies", lambda: [str(small)])
    shown = setsweep("papers")
    [line] = [each for each in shown.out.splitlines() if "an older paper" in each]
    assert line.split()[-4:-1] == ["7", "2", "2"]
    assert len(read_study(small).published) == 2
    assert "Beside the published: an older paper" in setsweep("report", small).out
