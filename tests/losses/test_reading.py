from __future__ import annotations

import dataclasses
from importlib import import_module
from pathlib import Path

import pytest

import setsweep.losses
from setsweep.losses import FILES, LOSSES
from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.reading import Later, read_declarations

FOLDER = Path(setsweep.losses.__file__).parent


@pytest.mark.parametrize("file", FILES)
def test_what_is_read_is_what_the_file_declares_when_it_is_run(file: str) -> None:
    module = import_module(f"setsweep.losses.{file}")
    declared = [each for each in vars(module).values() if isinstance(each, LossDeclaration)]

    read = read_declarations(f"setsweep.losses.{file}")

    assert declared
    assert len(read) == len(declared)
    for ours, theirs in zip(read, declared, strict=True):
        assert isinstance(ours.module, Later)
        assert getattr(import_module(ours.module.file), ours.module.name) is theirs.module
        assert dataclasses.replace(ours, module=theirs.module) == theirs
        assert LOSSES[ours.name] == ours


def test_every_file_that_declares_a_loss_is_listed() -> None:
    declaring = {path.stem for path in FOLDER.glob("*.py") if "= LossDeclaration(" in path.read_text(encoding="utf-8")}

    assert declaring == set(FILES)


def test_a_declaration_of_more_than_plain_data_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clever_loss.py").write_text("DECLARATION = LossDeclaration(name=spelled(), module=Clever)")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ValueError, match=r"^Declarations in clever_loss must be plain data, got Clever, spelled in"):
        read_declarations("clever_loss")
