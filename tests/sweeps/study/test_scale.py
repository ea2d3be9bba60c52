"""The small form of a study: what stands in place of what, what is refused, and what bundled ones promise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.study.reader import read_bundled, read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.source import bundled_studies

Read = Callable[..., Study]
Errors = Callable[..., list[str]]

TEXT = """\
study: large
data: {name: digits, label_noise: 0.1}
model: {name: mlp, hidden: 64}
training: {epochs: 100, optimizer: {lr: 0.2}}
k: [1, 2]
arms: {cross_entropy: {}, avgk: {}, focal: {}}
grid: {data.label_noise: [0.0, 0.2]}
confirm: {seeds: 7}
compare: {baseline: cross_entropy}
published:
  - {where: table 1, metric: test/avg2_accuracy, point: {data.label_noise: 0.0}, values: {avgk: 90, focal: 80}}
  - {where: table 1, metric: test/avg2_accuracy, point: {data.label_noise: 0.2}, values: {avgk: 89}}
  - {where: table 2, metric: test/avg1_accuracy, point: {data.label_noise: 0.0}, values: {avgk: 70}}
"""
SMALL = """\
small:
  leaves_out: nearly all of it
  model: {name: linear}
  training: {epochs: 3}
  k: 2
  arms: {cross_entropy: {}, avgk: {}}
  grid: {data.label_noise: [0.0]}
"""


def test_without_being_asked_for_it_changes_nothing(read_text: Read) -> None:
    whole, alone = read_text(TEXT + SMALL), read_text(TEXT)
    assert (whole.name, whole.protocol(), whole.published) == ("large", alone.protocol(), alone.published)
    assert (whole.has_small_form, alone.has_small_form) == (True, False)


def test_its_fields_stand_whole_in_the_place_of_the_studys(read_text: Read) -> None:
    small = read_text(TEXT + SMALL, "scale=small")
    assert small.name == "large-small"
    assert small.model["name"] == "linear"
    assert (small.training["epochs"], small.training["optimizer"]["lr"]) == (
        3,
        read_text(TEXT, "training={}").training["optimizer"]["lr"],
    )
    assert list(small.arms) == ["cross_entropy", "avgk"]
    assert small.data["label_noise"] == 0.1  # not among its fields: the study's
    assert len(small.confirm_seeds) == 7
    assert small.notes == ("Of the paper's experiment this leaves out: nearly all of it.",)


def test_it_has_the_published_numbers_of_what_it_has_in_common(read_text: Read) -> None:
    [one] = read_text(TEXT + SMALL, "scale=small").published
    assert (one.where, one.arm, one.mean) == ("table 1", "avgk", 0.9)


def test_an_override_leaves_out_the_published_numbers_of_what_it_leaves_out(read_text: Read) -> None:
    [one] = read_text(TEXT, "grid.data.label_noise=[0.2]").published
    assert one.mean == 0.89
    assert len(read_text(TEXT, "arms={cross_entropy: {}, avgk: {}}", "k=[2]").published) == 2


def test_its_text_is_a_study_that_is_read_as_it(read_text: Read) -> None:
    """Records hold that text; a name that grew with every reading would lose them."""
    small = read_text(TEXT + SMALL, "scale=small")
    again = read_text(small.text)
    assert again == small
    assert "scale" not in small.text


def test_overrides_are_of_the_form_that_is_run(read_text: Read) -> None:
    small = read_text(TEXT + SMALL, "training.epochs=5", "scale=small", "small.confirm={seeds: 2}")
    assert (small.training["epochs"], len(small.confirm_seeds)) == (5, 2)
    assert read_text(TEXT + SMALL + "scale: small\n").name == "large-small"


NO_ALPHA = SMALL.replace("avgk: {}", "avgk: {alpha: -1}")
SAYS_NOTHING = SMALL.replace("  leaves_out: nearly all of it\n", "")


@pytest.mark.parametrize(
    ("changed", "overrides", "said"),
    [
        (SMALL.replace("epochs: 3", "epochs: 0"), (), "study.yaml:17: small.training.epochs: must be >= 1, got 0."),
        (NO_ALPHA, (), "study.yaml:19: small.arms.avgk.alpha: must be >= 0, got -1."),
        (SMALL + "  published: []\n", (), "study.yaml:21: small.published: unknown field of a small form 'published'."),
        (SAYS_NOTHING, (), "study.yaml:14: small: must say what it leaves out"),
        ("small: [1]\n", (), "study.yaml:14: small: must be a mapping of fields, got [1]."),
        ("scale: tiny\n", (), "study.yaml:14: scale: must be one of full, small, got 'tiny'."),
        ("", ("scale=small",), "--set scale=small: scale: must be full in a study that has no small form"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_where_it_stands(
    errors_of: Errors, changed: str, overrides: tuple[str, ...], said: str
) -> None:
    assert any(error.startswith(said) for error in errors_of(TEXT + changed, *overrides)), errors_of(TEXT + changed)


def test_mistakes_of_both_forms_are_told_at_once(errors_of: Errors) -> None:
    errors = errors_of(TEXT.replace("epochs: 100", "epochs: -1") + SMALL.replace("epochs: 3", "epochs: 0"))
    assert [error.split(": ")[1] for error in errors] == ["small.training.epochs", "training.epochs"]


OF_PAPERS = [name for name in bundled_studies() if read_bundled(name).path.startswith("sweeps/studies/papers/")]


@pytest.mark.parametrize("name", OF_PAPERS)
def test_papers_studies_run_small_on_data_that_is_at_hand(name: str) -> None:
    """On CIFAR-100 and a CNN, in at most 50 runs of some ten seconds; those on the circle take seconds as they are."""
    study = read_study(name)
    assert study.published or study.reproduces
    if study.data["name"] == "circle":
        return
    small = read_study(name, ["scale=small"])
    assert small.data["name"] in ("cifar100", "cifar100_lt")
    assert small.model["name"] == "small_cnn"
    assert (small.resources.gpus, small.resources.cpus) == (0, 1)
    assert small.training["epochs"] <= 6
    assert Planner(small).total <= 50
    assert len(small.confirm_seeds) >= 5
    assert small.leaves_out
