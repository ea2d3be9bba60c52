"""What the documents say of names, numbers and files is what the declared rows and the tree say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.sweeps.commands.listings.fields import reference
from setsweep.sweeps.study.fields import study_groups
from setsweep.trainables.config.presets import PRESETS
from setsweep.trainables.models.table import MODELS

REPOSITORY = Path(__file__).parents[1]
DOCUMENTS = sorted(path for path in REPOSITORY.glob("**/README.md") if not {".venv", ".links"} & set(path.parts))
CODE = re.compile(r"`([^`]+)`")


def rows(document: str, heading: str) -> Iterator[list[str]]:
    """The cells of a document's table whose first heading is that."""
    lines = iter((REPOSITORY / document / "README.md").read_text().splitlines())
    assert any(line.startswith(f"| {heading} |") for line in lines), f"{document} has no such table"
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def test_the_reference_of_fields_is_that_of_the_rows() -> None:
    written = (REPOSITORY / "sweeps" / "FIELDS.md").read_text()
    assert written.rstrip() == reference(study_groups()).rstrip(), "`make docs` writes it again"


def test_every_loss_is_in_the_table_with_its_hyperparameters_and_needs() -> None:
    seen = set()
    for loss, _, when, parameters, needs, *_ in rows("losses", "loss"):
        for name in CODE.findall(loss):
            declared = LOSSES[name]
            seen.add(name)
            if when != "comparison only":
                assert CODE.findall(parameters) == list(declared.hyperparameters), name
            assert ("two heads" in needs, "cosine head" in needs) == (
                declared.head == "two_head",
                declared.head == "cosine",
            ), name
            assert "class counts" in needs or not declared.needs_class_counts, name
    assert seen == set(LOSSES)


@pytest.mark.parametrize(
    ("document", "heading", "table"), [("data", "`data.name`", DATASETS), ("trainables", "`model.name`", MODELS)]
)
def test_every_row_of_a_table_is_in_the_documents(document: str, heading: str, table: dict[str, object]) -> None:
    named = {name for cells in rows(document, heading) for name in CODE.findall(cells[0])}
    assert named - {"package.module:function"} == set(table)


def test_the_schedules_of_the_papers_are_those_of_the_presets() -> None:
    shown = {}
    for name, epochs, batch, optimizer, gamma, *_ in rows("trainables", "preset"):
        shown[name.strip("`")] = [
            float(number) for number in re.findall(r"[\d.]+(?:e-\d+)?", f"{epochs} {optimizer} {gamma}")
        ]
        assert batch == str(PRESETS[name.strip("`")].settings["batch_size"])
    for name, preset in PRESETS.items():
        s = preset.settings
        expected = [s["epochs"], s["optimizer.lr"]]
        if "milestones" in s:
            expected += [s["optimizer.weight_decay"], s["gamma"], *s["milestones"]]
        assert shown.pop(name) == expected, name
    assert not shown


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_to_files(document: Path) -> None:
    text = document.read_text()
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
        assert (document.parent / target).exists(), target
    for path in CODE.findall(text):
        if re.fullmatch(r"(?:losses|data|trainables|sweeps|tests)/[a-z_/]+\.py", path):
            assert (REPOSITORY / path).exists(), path


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 250
