"""Test images with their sets: picked by a real sweep of digits, kept beside the report, shown in the page."""

from __future__ import annotations

import base64
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from setsweep.data import load_dataset
from setsweep.sweeps import report as stored
from setsweep.sweeps import run_study
from setsweep.sweeps.reports.examples import FILE, KINDS
from setsweep.sweeps.sweep.examples import SIDE, _picked, _thumbnail

STUDY = {
    "study": "shown",
    "data": {"name": "digits"},
    "model": {"name": "linear"},
    "training": {"epochs": 1, "batch_size": 64},
    "k": [1, 2],
    "arms": {"cross_entropy": {}, "focal": {}},
    "confirm": {"seeds": 2},
}


class _Page(HTMLParser):
    """Rows of the table of examples, and the images in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.images: list[str] = []
        start = text.index('<section id="examples">')
        self.feed(text[start : text.index("</section>", start)])

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "img":
            self.images.append(dict(attrs)["src"])

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The storage of a study that was run."""
    storage = tmp_path_factory.mktemp("shown")
    run_study(STUDY, storage=str(storage), in_process=True, tracking_uri=f"sqlite:///{storage}/m.db")
    return storage


def test_a_study_of_images_shows_some_with_the_sets_of_every_arm(ran: Path) -> None:
    text = (ran / "shown/report/report.html").read_text()
    page = _Page(text)
    assert page.rows[0] == ["", "image", "class", "cross_entropy", "focal"]
    kinds = [row[0] for row in page.rows[1:]]
    assert kinds == sorted(kinds, key=list(KINDS).index)
    assert set(kinds) == set(KINDS)
    (kept,) = json.loads((ran / "shown/report" / FILE).read_text())
    column = page.rows[0].index(kept["by"])
    for kind, _, label, *sets in page.rows[1:]:
        for each in sets:
            mark, _, names = each.partition(" ")
            assert mark == ("✓" if label in names.split(", ") else "✗")
        assert (kind, page.rows[1:][kinds.index(kind)][column][0]) != ("wrong", "✓")
    digits = load_dataset({"name": "digits"}, seed=0)
    known = {
        image.numpy().tobytes(): str(label.item())
        for image, label in zip(digits.test.inputs, digits.test.labels, strict=True)
    }
    for source, row in zip(page.images, page.rows[1:], strict=True):
        assert source.startswith("data:image/png;base64,")
        with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as image:
            assert known[image.tobytes()] == row[2], "an image of the test split, with its own class"
    assert text.index("<h2>Test results") < text.index('id="examples"')


def test_they_are_shown_again_without_models_and_data(ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("setsweep.trainables.evaluation.predictor.SetPredictor")
    assert 'id="examples"' in stored(str(ran), "shown").report("html")


def test_a_study_of_no_images_shows_none(tmp_path: Path) -> None:
    circle = {**STUDY, "data": {"name": "circle"}, "arms": {"cross_entropy": {}}}
    run_study(circle, storage=str(tmp_path), in_process=True, tracking_uri=f"sqlite:///{tmp_path}/m.db")
    assert 'id="examples"' not in (tmp_path / "shown/report/report.html").read_text()


def test_of_each_kind_some_are_picked_and_none_twice() -> None:
    sets = [[0], [0, 1, 2], [1], [], [2, 0], [2], [0], [1], [0], [1]]
    labels = [0, 0, 0, 0, 2, 2, 1, 1, 0, 1]
    assert _picked(sets, labels) == {
        "right": [0, 5, 7, 8],  # and 9, which is one too many
        "wrong": [2, 3, 6],
        "large set": [1, 4],
        "small set": [],  # 3 is wrong, too
    }


def test_sets_of_one_size_are_neither_large_nor_small() -> None:
    assert _picked([[0], [1], [1]], [0, 1, 0]) == {"right": [0, 1], "wrong": [2], "large set": [], "small set": []}


@pytest.mark.parametrize(
    ("shape", "form", "most"), [((1, 8, 8), "PNG", 500), ((3, 32, 32), "PNG", 6_000), ((3, 300, 200), "JPEG", 8_000)]
)
def test_an_image_is_a_small_file_whatever_its_size(shape: tuple[int, ...], form: str, most: int) -> None:
    noise = torch.randint(0, 256, shape, generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    encoded = _thumbnail(noise.numpy())
    assert len(encoded) < most
    with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
        assert image.format == form
        assert max(image.size) <= SIDE
