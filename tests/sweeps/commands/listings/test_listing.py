"""What listings share."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.sweeps.commands.listings.listing import settings, table
from setsweep.trainables.models.table import MODELS


@pytest.mark.parametrize(
    ("section", "name", "lines"),
    [
        (
            "loss",
            "noised_topk_hinge",
            [
                "epsilon = 0.2 scores (a number >= 0), log_uniform [0.01, 10.0]",
                "num_samples = 10 draws (a whole number >= 1), int [1, 50]",
            ],
        ),
        (
            "data",
            "cifar100",
            [
                "label_noise = 0.0 (a number between 0 and 1)",
                "label_noise_kind = exact (one of exact, published)",
                "calibration = 0.0 (a number >= 0 and < 1)",
                "split_seed = 0 (a whole number >= 0 or run)",
                "subset = none images (a whole number between 100 and 45000 or null)",
            ],
        ),
        ("loss", "cross_entropy", []),
    ],
)
def test_a_setting_is_a_line_of_default_unit_rule_and_range(section: str, name: str, lines: list[str]) -> None:
    assert settings(section, name).splitlines() == lines


def test_the_k_of_a_loss_is_left_to_the_study() -> None:
    assert [line.split(" = ")[0] for line in settings("loss", "avgk").splitlines()] == ["alpha", "y_in_negatives"]
    assert settings("loss", "topk_hinge") == ""


def test_a_table_is_as_wide_as_the_terminal_and_folds_what_is_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = table(("name", "about"), [("avgk", "word " * 20), ("focal", "a\nb")])
    assert max(map(len, shown.splitlines())) <= 40
    assert shown.count("word") == 20
    assert [line.split() for line in shown.splitlines()[:1]] == [["name", "about"]]
    assert shown == shown.rstrip()


def test_brackets_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "range [low, high] and [/end]" in table(("name",), [("range [low, high] and [/end]",)])


@pytest.mark.parametrize(("listing", "rows"), [("losses", LOSSES), ("datasets", DATASETS), ("models", MODELS)])
def test_a_listing_has_every_row_with_its_settings(setsweep: Any, listing: str, rows: Any) -> None:
    said = setsweep(listing)
    assert (said.code, said.err) == (0, "")
    first = [line.split()[0] for line in said.out.splitlines() if line[:1].strip()]
    assert first[1:] == list(rows)


def test_a_row_without_settings_has_a_dash(monkeypatch: pytest.MonkeyPatch, setsweep: Any) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (line,) = [each for each in setsweep("models").out.splitlines() if each.startswith("densenet_40_40 ")]
    assert line.split()[-1] == "-"
