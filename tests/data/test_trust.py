"""Which functions a study may name: those of the user's own modules and of allowed packages, and no others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from setsweep.data import trust
from setsweep.data.trust import ALLOW, allow, check_trusted
from setsweep.data.user_function import own_function


@pytest.fixture(autouse=True)
def _nothing_found_yet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(trust, "_found_trusted", set())
    monkeypatch.delenv(ALLOW, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "subprocess:check_call",
        "os:system",
        "builtins:exec",
        "posix:system",
        "torch.utils.cpp_extension:load_inline",
        "runpy:run_path",
        "yaml:unsafe_load",
        "setsweep.trainables.loop:train",
    ],
)
def test_what_is_installed_is_refused_and_not_imported(name: str) -> None:
    loaded = set(sys.modules)
    with pytest.raises(ValueError, match=r"model\.name must be a function of a module in the study's folder"):
        check_trusted(name, "model")
    assert set(sys.modules) - loaded == set()


def test_modules_in_the_current_and_in_the_studys_folder_are_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "there", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"nets_{folder}.py").write_text("raise SystemExit('was imported')")
        monkeypatch.syspath_prepend(tmp_path / folder)
    monkeypatch.chdir(tmp_path / "here")
    check_trusted("nets_here:network", "model")
    check_trusted("nets_there:network", "model", [tmp_path / "there"])
    with pytest.raises(ValueError, match="nets_elsewhere is in"):
        check_trusted("nets_elsewhere:network", "model", [tmp_path / "there"])


def test_what_is_installed_in_the_current_folder_is_not_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A virtual environment often lies in the folder that one works in."""
    monkeypatch.chdir("/")
    with pytest.raises(ValueError, match=r"model\.name must be"):
        check_trusted("torch.utils.cpp_extension:load_inline", "model")


def test_a_package_that_is_allowed_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW, "other")
    allow(["yaml", "scipy"])
    for name in ("yaml:dump", "scipy.special:expit", "other:function"):
        check_trusted(name, "data")
    with pytest.raises(ValueError, match=r"data\.name must be"):
        check_trusted("numpy:load", "data")


def test_a_module_that_is_nowhere_is_left_to_its_import() -> None:
    check_trusted("no_such_module_at_all:network", "model")


def test_a_function_that_a_module_only_imports_is_not_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helpers_of_mine.py").write_text("from subprocess import check_call\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="must name a function that helpers_of_mine defines"):
        own_function("helpers_of_mine:check_call", "model", (["touch", str(tmp_path / "hit")],), {})
    assert not (tmp_path / "hit").exists()
