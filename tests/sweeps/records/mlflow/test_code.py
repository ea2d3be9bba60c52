"""What a model carries with it: Setsweep's code below sweeps, the user's own modules, true requirements."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from setsweep.sweeps.records.mlflow.code import copy_code, pack_code, requirements

IMPORT = "import setsweep_model, setsweep.trainables.evaluation.served as served; print(served.__file__)"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's with a module and a package."""
    folder = tmp_path / "own"
    (folder / "nets").mkdir(parents=True)
    (folder / "alone.py").write_text("import yaml\n")
    (folder / "nets" / "__init__.py").write_text("import scipy.stats\nimport nets.deep\n")
    (folder / "nets" / "deep.py").write_text("def model():\n    import sklearn\n")
    (folder / "nets" / "weights.bin").write_bytes(b"0")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_the_users_modules_go_along(own: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    paths = copy_code(code, ["alone:model", "nets.deep:model", "nets:other"])
    assert paths == [str(code / name) for name in ("setsweep", "alone.py", "nets")]
    assert (code / "nets" / "deep.py").read_text().startswith("def model")
    assert not (code / "nets" / "weights.bin").exists()


def test_requirements_are_what_the_code_imports_at_the_versions_that_are_installed(own: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    copy_code(code, ["nets:model"])
    needed = requirements(code)
    assert f"torch=={version('torch').partition('+')[0]}" in needed
    assert f"scipy=={version('scipy')}" in needed
    assert f"scikit-learn=={version('scikit-learn')}" in needed  # imported as sklearn, when the model is built
    assert f"torchvision=={version('torchvision').partition('+')[0]}" in needed  # for its models
    assert not [each for each in needed if each.startswith(("setsweep", "nets", "ray", "optuna"))]


def test_the_code_is_imported_from_the_one_file_that_it_was_packed_into(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    copy_code(code, [])
    pack_code(code)
    assert sorted(path.name for path in code.iterdir()) == ["setsweep.zip", "setsweep_model.py"]
    environment = {**os.environ, "PYTHONPATH": str(code)}
    said = subprocess.run(
        [sys.executable, "-c", IMPORT], env=environment, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert said.stdout.strip() == str(code / "setsweep.zip" / "setsweep" / "trainables" / "evaluation" / "served.py")
