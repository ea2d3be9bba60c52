"""``setsweep show``: which study is meant by a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def test_a_bundled_study_is_shown_as_it_is(setsweep: Any, folder: Path) -> None:
    said = setsweep("show", "demo")
    assert (said.code, said.err) == (0, "")
    assert yaml.safe_load(said.out)["study"] == "demo"
    assert said.out.endswith("\n")
    assert not said.out.endswith("\n\n")


def test_one_that_was_run_comes_before_the_bundled_one_of_its_name(setsweep: Any, folder: Path) -> None:
    stored = folder / "results" / "demo"
    stored.mkdir(parents=True)
    (stored / "study.yaml").write_text("study: demo\nabout: as it was run\n")
    assert "as it was run" in setsweep("show", "demo", "--storage", "results").out
    assert "as it was run" not in setsweep("show", "demo").out


def test_a_path_is_a_file_whatever_the_storage_holds(setsweep: Any, folder: Path) -> None:
    (folder / "demo.yaml").write_text("study: of this file\n")
    assert setsweep("show", "./demo.yaml").out == "study: of this file\n"


def test_what_is_no_study_is_refused_with_the_nearest(setsweep: Any, folder: Path) -> None:
    said = setsweep("show", "demmo")
    assert said.code == 2
    assert "Did you mean 'demo'?" in said.err
