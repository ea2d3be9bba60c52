"""A user's own function: which names mean one, and everything that can be wrong with it, before it is called."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from setsweep.data.user_function import FORM, is_own, is_plain, own_function

SOURCE = """
from math import sqrt

calls = []

def make(size, *, depth=1):
    calls.append((size, depth))
    return size * depth

VALUE = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "functions_of_a_user"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize(
    ("name", "own"), [("a:b", True), ("linear", False), (None, False), (3, False), (["a:b"], False)]
)
def test_a_name_with_a_colon_means_a_function(name: object, own: bool) -> None:
    assert is_own(name) is own


@pytest.mark.parametrize("name", ["a:b", "a.b.c:d", "päckchen.modul:größe"])
def test_the_form_is_package_and_function(name: str) -> None:
    assert FORM.fullmatch(name)


@pytest.mark.parametrize("name", ["a", ":b", "a:", "a..b:c", "1a:b", "a:b.c", "a:b()", "../a:b"])
def test_other_forms_are_none(name: str) -> None:
    assert not FORM.fullmatch(name)


@pytest.mark.parametrize(
    ("value", "plain"),
    [({"a": [1, "b", None]}, True), ((1, 2), False), ({1: 2}, False), (math.nan, False), ({1, 2}, False)],
)
def test_plain_data_are_what_json_gives_back_as_they_were(value: Any, plain: bool) -> None:
    assert is_plain(value) is plain


def test_the_function_is_checked_and_not_called_yet(module: str) -> None:
    call = own_function(f"{module}:make", "model", [4], {"depth": 2})
    calls = __import__(module).calls
    assert calls == []
    assert call() == 8
    assert calls == [(4, 2)]


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("nowhere_at_all:make", {}, "model.name: nowhere_at_all can't be imported: ModuleNotFoundError"),
        ("{module}:missing", {}, "must name a function, got .*; {module} has none of that name"),
        ("{module}:VALUE", {}, "must name a function"),
        ("{module}:sqrt", {}, "must name a function that {module} defines, got .*, which is of math"),
        ("{module}:make", {"width": 3}, "model: {module}:make got an unexpected keyword argument 'width'"),
    ],
)
def test_what_is_wrong_with_a_function_is_said(module: str, name: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said.format(module=module)):
        own_function(name.format(module=module), "model", [4], settings)


def test_a_module_that_raises_is_told_with_what_it_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raises_when_imported.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="can't be imported: RuntimeError: no licence"):
        own_function("raises_when_imported:make", "data", [], {})
