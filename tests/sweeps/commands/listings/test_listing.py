"""What listings share."""

from __future__ import annotations

from typing import Any

import pytest

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.sweeps.commands.listings.listing import entry, settings
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
    assert settings(section, name) == lines


def test_the_k_of_a_loss_is_left_to_the_study() -> None:
    assert [line.split(" = ")[0] for line in settings("loss", "avgk")] == ["alpha", "y_in_negatives"]
    assert settings("loss", "topk_hinge") == []


def test_an_entry_is_as_wide_as_the_terminal_and_breaks_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = entry("avgk", ["top-k " * 20, "a [/b]", "tests/benchmarks/of/a/path/that/is/longer.py"]).splitlines()
    assert lines[0] == "avgk"
    assert max(map(len, lines[:-1])) <= 40
    assert {word for line in lines[1:-2] for word in line.split()} == {"top-k"}
    assert lines[-2:] == ["    a [/b]", "    tests/benchmarks/of/a/path/that/is/longer.py"]


@pytest.mark.parametrize(("listing", "rows"), [("losses", LOSSES), ("datasets", DATASETS), ("models", MODELS)])
def test_a_listing_has_every_row_with_its_settings(setsweep: Any, listing: str, rows: Any) -> None:
    said = setsweep(listing)
    assert (said.code, said.err) == (0, "")
    first = [line.split()[0] for line in said.out.splitlines() if line[:1].strip()]
    assert first == list(rows)


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("listing", ["studies", "papers", "losses", "datasets", "models", "fields"])
def test_every_listing_is_read_in_a_usual_terminal(
    setsweep: Any, listing: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words whole, and no line longer than the terminal."""
    monkeypatch.setenv("COLUMNS", "1000")
    words = {word for line in setsweep(listing).out.splitlines() for word in line.split()}
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = setsweep(listing).out.splitlines()
    assert {word for line in lines for word in line.split()} == words
    assert max(map(len, lines)) <= columns
