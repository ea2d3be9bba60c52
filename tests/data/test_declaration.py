"""What a data set declares: defaults of all settings, and the rules that legal settings break together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from setsweep.data import DATASETS
from setsweep.data.declaration import LABEL_NOISE, Contradiction, DatasetDeclaration, DataSetting


def _own(settings: Mapping[str, Any]) -> Iterable[Contradiction]:
    if settings["size"] > settings["most"]:
        yield "size", f"must be at most data.most, got {settings['size']}."


def _declaration(**changes: Any) -> DatasetDeclaration:
    settings = {"size": DataSetting(default=1), "most": DataSetting(default=3), **LABEL_NOISE}
    fields: dict[str, Any] = {"name": "made_up", "about": "", "source": "", "load": dict, "settings": settings}
    return DatasetDeclaration(**{**fields, **changes})


def test_defaults_are_those_of_all_settings() -> None:
    assert _declaration().defaults() == {"size": 1, "most": 3, "label_noise": 0.0, "label_noise_kind": "exact"}


def test_settings_that_go_together_break_no_rule() -> None:
    declaration = _declaration(contradictions=_own, num_classes=10)
    assert list(declaration.broken_rules(declaration.defaults())) == []


def test_a_data_sets_own_rules_are_asked() -> None:
    declaration = _declaration(contradictions=_own)
    [(setting, rule)] = declaration.broken_rules({**declaration.defaults(), "size": 4})
    assert (setting, rule) == ("size", "must be at most data.most, got 4.")


@pytest.mark.parametrize(("classes", "broken"), [(100, False), (7, True), (None, False), (lambda s: s["size"], True)])
def test_the_published_label_noise_needs_classes_in_blocks_of_five(classes: Any, broken: bool) -> None:
    """Where only loading tells how many there are, loading refuses it."""
    declaration = _declaration(num_classes=classes)
    found = list(declaration.broken_rules({**declaration.defaults(), "label_noise_kind": "published"}))
    assert [setting for setting, _ in found] == (["label_noise_kind"] if broken else [])


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_the_defaults_of_every_data_set_go_together(name: str) -> None:
    assert list(DATASETS[name].broken_rules(DATASETS[name].defaults())) == []


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_setting_says_what_it_does(name: str) -> None:
    assert all(setting.about for setting in DATASETS[name].settings.values())
