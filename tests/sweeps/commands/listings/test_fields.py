"""``setsweep fields`` as a user calls it."""

from __future__ import annotations

import pytest

from setsweep.sweeps.cli import main


def test_a_field_is_shown_with_rule_default_range_and_meaning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["fields", "avgk"]) == 0
    shown = capsys.readouterr().out
    assert "\narms.avgk.alpha = 1.0 (a number >= 0), log_uniform [0.1, 10.0]\n    " in shown
    assert shown.startswith("arms: avgk - ")


def test_markdown_is_a_table_for_each_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", "confirm", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# Fields of a study"
    assert "## `confirm`" in lines
    assert any(
        line.startswith("| confirm.seeds | a number of seeds, or a list of them | [0, 1, 2, 3, 4] |") for line in lines
    )


def test_a_row_without_settings_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", "cross_entropy"]) == 0
    assert "no settings" in capsys.readouterr().out


def test_an_unknown_field_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", "avkg"]) == 2
    assert "unknown field 'avkg'. Did you mean 'avgk'?" in capsys.readouterr().err
