"""Test images with their sets, as they are kept and shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from setsweep.sweeps.reports.examples import FILE, Example, Examples, section, write_examples
from setsweep.sweeps.reports.report import Report, with_examples


def test_names_are_text_and_long_sets_are_cut(report: Report) -> None:
    names = [f"<{number}>" for number in range(10)]
    own = Example(kind="large set", image="iVBORw0KGgo=", label="<0>", sets={"avgk": names})
    found = Examples(point=report.study.points()[0], k=2, by="avgk", looked_at=9, examples=[own])
    text = section([found])
    assert "✓ <b>&lt;0&gt;</b>, &lt;1&gt;" in text
    assert "and 2 more" in text
    assert "<0>" not in text


def test_what_lies_there_of_another_study_or_in_another_form_is_left_out(report: Report, tmp_path: Path) -> None:
    own = Example(kind="right", image="", label="0", sets={"avgk": ["0"]})
    point = dict(report.study.points()[0])
    right = Examples(point=point, k=2, by="avgk", looked_at=9, examples=[own])
    write_examples([right, replace(right, by="another"), replace(right, point={"data.label_noise": 7})], tmp_path)
    assert with_examples(report, tmp_path).examples == (right,)
    for text in ("", "{}", "[1]", '[{"point": {}}]'):
        (tmp_path / "report" / FILE).write_text(text)
        assert with_examples(report, tmp_path).examples == ()
    assert with_examples(report, tmp_path / "no").examples == ()
