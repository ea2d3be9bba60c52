"""What goes with a study to a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from setsweep.sweeps.commands.cluster.luggage import pack
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Arm, Study
from setsweep.sweeps.sweep import own_files

STUDY = """\
study: own
data: {name: digits}
model: {name: "luggage_nets:wide"}
k: 2
arms: [cross_entropy]
"""
NETS = """\
from torch import nn

def wide(input_shape):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 8)), 8
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study in a folder of its own, beside the module of its model and other files."""
    here = tmp_path / "here"
    for path in ("helpers/__init__.py", "helpers/layers.py", ".git/hook.py", "env/lib/torch.py", "notes.txt"):
        (here / path).parent.mkdir(parents=True, exist_ok=True)
        (here / path).write_text("")
    (here / "env" / "pyvenv.cfg").write_text("")
    (here / "luggage_nets.py").write_text(NETS)
    (here / "own.yaml").write_text(STUDY)
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(str(here))
    return read_study("own.yaml", ["training.epochs=3"])


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_study_goes_as_it_is_with_its_overrides(own: Study, there: Path) -> None:
    assert read_study(there / pack(own, there)).training["epochs"] == 3


def test_a_bundled_study_goes_alone(there: Path) -> None:
    assert read_study(there / pack(read_study("demo"), there)).name == "demo"
    assert files(there) == {"demo.yaml"}


def test_modules_go_with_the_python_that_lies_beside_them(own: Study, there: Path) -> None:
    pack(own, there)
    assert files(there) == {"own.yaml", "luggage_nets.py", "helpers/__init__.py", "helpers/layers.py"}


@pytest.mark.parametrize("section", ["loss", "metrics"])
def test_modules_of_losses_and_of_metrics_go_as_well(own: Study, section: str) -> None:
    plain = replace(own, model={"name": "mlp"})
    assert own_files.own_files(plain) == {}
    arms = {"mine": Arm(name="mine", loss="luggage_nets:loss")}
    study = replace(plain, arms=arms) if section == "loss" else replace(plain, metrics=("luggage_nets:metric",))
    assert own_files.own_files(study)["luggage_nets.py"] == NETS.encode()


def test_so_much_python_that_it_can_not_be_meant_is_refused(
    own: Study, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_files, "MOST_BYTES", len(NETS) - 1)
    with pytest.raises(ValueError, match="the modules of a study must have at most"):
        pack(own, there)


def test_what_a_study_may_not_name_is_refused(own: Study, there: Path) -> None:
    with pytest.raises(ValueError, match=r"model\.name must be a function of a module in the study's folder"):
        pack(replace(own, model={"name": "subprocess:check_call"}), there)
