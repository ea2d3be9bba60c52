"""What is wrong with a study is collected while it is read, and told at once."""

from __future__ import annotations

import pytest

from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.sweeps.study.text.source import read_source
from setsweep.trainables.settings.rules import whole
from setsweep.trainables.settings.setting import Setting

TEXT = """\
k: 0
search:
  trials: 0
  batch: 3
confirm:
compare: [1]
"""
COUNT = Setting(whole(1), 20)


@pytest.fixture
def findings() -> Findings:
    return Findings(read_source(TEXT, "s.yaml"))


def _told(findings: Findings) -> tuple[str, ...]:
    with pytest.raises(StudyError) as caught:
        findings.raise_any()
    return caught.value.errors


def test_nothing_is_raised_where_nothing_was_found(findings: Findings) -> None:
    assert Section(findings, ("search",)).read("batch", COUNT) == 3
    findings.raise_any()


def test_overrides_come_first_and_then_the_lines_of_the_file(findings: Findings) -> None:
    findings.source.override("search.batch=0")
    for path in (("search", "trials"), ("search", "batch"), ("k",)):
        findings.add(path, "is wrong.")
    assert _told(findings) == (
        "--set search.batch=0: search.batch: is wrong.",
        "s.yaml:1: k: is wrong.",
        "s.yaml:3: search.trials: is wrong.",
    )


def test_a_field_that_was_left_out_is_found_where_it_would_stand(findings: Findings) -> None:
    findings.add(("search", "seeds"), "must be given.")
    assert _told(findings) == ("s.yaml:2: search.seeds: must be given.",)


def test_what_is_wrong_is_within_its_section(findings: Findings) -> None:
    assert not findings.within("search", "k")
    findings.add(("search", "trials"), "is wrong.")
    assert findings.within("k", "search")
    assert not findings.within("k", "confirm")


def test_a_broken_value_is_a_finding_and_reading_goes_on_with_the_default(findings: Findings) -> None:
    assert findings.checked(("k",), COUNT.check, 0, 7) == 7
    assert findings.checked(("k",), COUNT.check, "3") == 3
    assert _told(findings) == ("s.yaml:1: k: must be >= 1, got 0.",)


def test_a_section_gives_each_field_or_its_default(findings: Findings) -> None:
    settings = dict.fromkeys(("trials", "batch", "seeds"), COUNT)
    assert Section(findings, ("search",), iter(settings)).read_all(settings) == {"trials": 20, "batch": 3, "seeds": 20}
    assert _told(findings) == ("s.yaml:3: search.trials: must be >= 1, got 0.",)


@pytest.mark.parametrize("path", [("confirm",), ("grid",), ("confirm", "seeds")])
def test_a_section_that_is_null_or_left_out_is_empty(findings: Findings, path: tuple[str, ...]) -> None:
    section = Section(findings, path, ["seeds"])
    assert (dict(section.values), section.read("seeds", COUNT)) == ({}, 20)
    findings.raise_any()


def test_fields_that_a_section_does_not_know_are_named_each_by_itself(findings: Findings) -> None:
    Section(findings, ("search",), ["trial", "seeds"])
    assert _told(findings) == (
        "s.yaml:3: search.trials: unknown field 'trials'. Did you mean 'trial'? Known: seeds, trial.",
        "s.yaml:4: search.batch: unknown field 'batch'. Known: seeds, trial.",
    )


def test_a_section_that_is_no_mapping_is_a_finding_and_empty(findings: Findings) -> None:
    assert Section(findings, ("compare",), ["baseline"]).values == {}
    assert _told(findings) == ("s.yaml:6: compare: must be a mapping, got [1].",)
