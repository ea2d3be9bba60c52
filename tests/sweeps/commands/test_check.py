"""``setsweep check`` and ``setsweep show``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.text.source import bundled_studies


def test_a_study_that_can_be_run_is_said_to_be_so_and_nothing_is_written(setsweep: Any, small: Path) -> None:
    before = set(small.parent.iterdir())
    said = setsweep("check", small)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("small: nothing is wrong. ")
    assert set(small.parent.iterdir()) == before


def test_errors_are_those_of_run(setsweep: Any, small: Path) -> None:
    small.write_text(small.read_text().replace("epochs: 2", "epochs: -2").replace("mlp", "mpl"))
    said, ran = setsweep("check", small), setsweep("run", small)
    assert (said.code, said.err) == (2, ran.err)
    assert "training.epochs" in said.err
    assert "Did you mean 'mlp'?" in said.err


def test_parts_that_do_not_fit_each_other_are_found(setsweep: Any, small: Path) -> None:
    """Digits have 1,077 images to train on."""
    said = setsweep("check", small, "--set", "training.batch_size=5000")
    assert said.code == 2
    assert "batch" in said.err


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("name: digits", "name: cifar100, root: nowhere", "data:"),
        ("batch_size: 256", "batch_size: 5000", "training:"),
    ],
)
def test_what_only_the_data_tell_is_told_with_file_and_line(
    setsweep: Any, small: Path, old: str, new: str, line: str
) -> None:
    text = small.read_text()
    assert old in text
    small.write_text(text.replace(old, new))
    number = next(n for n, each in enumerate(text.splitlines(), 1) if each.startswith(line))
    said = setsweep("check", small)
    assert said.code == 2
    assert f"small.yaml:{number}: cross_entropy" in said.err


def test_more_cpus_than_there_are_are_noted(setsweep: Any, small: Path) -> None:
    said = setsweep("check", small, "--set", "resources.cpus=1000")
    assert said.code == 0
    assert "Note: resources must fit on this machine, with " in said.out
    assert "got 1000 CPUs and 0 GPUs a run. A cluster may have the room." in said.out


def test_another_study_of_the_name_is_found(setsweep: Any, small: Path) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    assert setsweep("check", small).code == 0
    said = setsweep("check", small, "--set", "training.epochs=3")
    assert said.code == 2
    assert "must be the one that 'setsweep-results/small' holds" in said.err


def test_a_bundled_study_is_shown_with_its_comments(setsweep: Any, folder: Path) -> None:
    for name in bundled_studies():
        said = setsweep("show", name)
        assert said.code == 0
        (folder / "copy.yaml").write_text(said.out)
        assert read_study(folder / "copy.yaml").protocol() == read_study(name).protocol()


def test_a_stored_study_is_shown_as_it_was_run(setsweep: Any, small: Path) -> None:
    assert setsweep("run", small, "--in-process", "--set", "confirm.seeds=3").code == 0
    (small.parent / "copy.yaml").write_text(setsweep("show", "small").out)
    assert read_study(small.parent / "copy.yaml").confirm_seeds == (0, 1, 2)
    assert setsweep("show", "nothing").code == 2


@pytest.mark.parametrize("command", ["check", "run", "plan"])
@pytest.mark.parametrize(
    "name", ["subprocess:check_call", "torch.utils.cpp_extension:load_inline", "setsweep.trainables.loop:train"]
)
def test_a_study_cannot_have_installed_functions_called(setsweep: Any, small: Path, command: str, name: str) -> None:
    said = setsweep(command, small, "--set", f'model={{name: "{name}", args: [touch, hit]}}')
    assert said.code == 2
    assert "model.name must be a function of a module in the study's folder" in said.err
    assert not (small.parent / "hit").exists()


def test_a_package_that_is_allowed_is_tried(setsweep: Any, small: Path) -> None:
    said = setsweep("check", small, "--set", 'model={name: "yaml:dump"}', "--allow", "yaml")
    assert said.code == 2
    assert "must give (network, number of features)" in said.err
