"""Overrides over a study file, and how study files are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.source import bundled_studies, open_study, override_path, plain_source, read_source


def test_an_override_replaces_a_value_and_is_its_place() -> None:
    source = read_source("training:\n  epochs: 10\n  milestones: [6, 8]\n", "s.yaml")
    source.override("training.epochs=3")
    source.override("training.milestones=[1, 2]")
    assert source.values == {"training": {"epochs": 3, "milestones": [1, 2]}}
    assert str(source.where(("training", "epochs"))) == "--set training.epochs=3"
    assert str(source.where(("training", "milestones", 1))) == "--set training.milestones=[1, 2]"
    assert str(source.where(("training", "gamma"))) == "s.yaml:1"


def test_an_override_makes_the_sections_it_needs() -> None:
    source = read_source("search:\nk: 2\n", "s.yaml")
    source.override("search.trials=1e1")
    source.override("confirm.seeds=2")
    assert source.values == {"search": {"trials": 10.0}, "k": 2, "confirm": {"seeds": 2}}
    assert str(source.where(("confirm", "trials"))) == "--set confirm.seeds=2"
    source.override("arms.mine.alpha=1")
    assert [str(source.where(path)) for path in (("arms",), ("arms", "mine"))] == ["--set arms.mine.alpha=1"] * 2


def test_what_an_override_replaces_has_left_no_place_behind() -> None:
    source = read_source("training:\n  milestones: [6,\n    8]\n", "s.yaml")
    source.override("training.milestones=[5]")
    assert str(source.where(("training", "milestones", 1))) == "--set training.milestones=[5]"


def test_an_override_of_nothing_is_null() -> None:
    source = read_source("k: 2\n", "s.yaml")
    source.override("k=")
    assert source.values == {"k": None}


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("training.optimizer.lr", ("training", "optimizer", "lr")),
        ("grid.data.label_noise", ("grid", "data.label_noise")),
        ("arms.avgk.alpha", ("arms", "avgk", "alpha")),
        ("arms.avgk.training.epochs", ("arms", "avgk", "training.epochs")),
        ("arms.avgk.training.optimizer.lr", ("arms", "avgk", "training.optimizer.lr")),
        ("grid", ("grid",)),
    ],
)
def test_keys_that_hold_dots_are_one_step(field: str, path: tuple[str, ...]) -> None:
    assert override_path(field) == path


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("k", "--set k: must be FIELD=VALUE, got 'k'."),
        ("=2", "--set =2: must be FIELD=VALUE, got '=2'."),
        ("k=[1", "--set k=[1: must close every [, got the end of the text."),
        ("k.a=1", "--set k.a=1: k: must be a mapping, got 2."),
        (
            "k=!!python/name:os.x",
            "--set k=!!python/name:os.x: tags that run code are not read, got '!!python/name:os.x'.",
        ),
    ],
)
def test_an_override_that_cannot_be_put_is_named(override: str, message: str) -> None:
    source = read_source("k: 2\n", "s.yaml")
    with pytest.raises(StudyError) as caught:
        source.override(override)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.yaml:1: must be a mapping of fields, got an empty file."),
        ("# only a comment\n", "s.yaml:1: must be a mapping of fields, got an empty file."),
        ("\n- a\n", "s.yaml:2: must be a mapping of fields, got ['a']."),
        ("study", "s.yaml:1: must be a mapping of fields, got 'study'."),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(text: str, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        read_source(text, "s.yaml")
    assert str(caught.value) == message


def test_a_folder_of_its_name_does_not_hide_a_bundled_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content, shown = open_study("demo")
    Path("demo").mkdir()
    assert open_study("demo") == (content, shown)


def test_a_file_goes_before_a_bundled_study_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_study("demo")[1] == "sweeps/studies/demo.yaml"
    Path("demo").write_text("study: mine\n", encoding="utf-8-sig")
    assert open_study("demo") == ("study: mine\n", "demo")


def test_a_study_that_is_not_there_gives_the_nearest_name() -> None:
    with pytest.raises(StudyError) as caught:
        open_study("dmo")
    assert str(caught.value) == (
        "dmo: must be a study file or the name of a bundled study, got neither. Did you mean 'demo'? "
        f"Bundled: {', '.join(bundled_studies())}."
    )


def test_a_file_that_cannot_be_read_is_an_error_of_the_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"must be a file that can be read, got: Is a directory\.$"):
        open_study(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("about: Zürich".encode("latin-1"))
    with pytest.raises(StudyError, match=r"latin.yaml: must be UTF-8 text, got byte 0xfc\.$"):
        open_study(tmp_path / "latin.yaml")
    with pytest.raises(StudyError, match=r"must be a file that can be read, got: File name too long\.$"):
        open_study("x" * 5000)


def test_a_value_that_is_filled_in_has_the_place_that_it_is_given() -> None:
    source = read_source("training: {preset: x}\n", "s.yaml")
    preset = source.where(("training", "preset"))
    source.fill_in(("training", "optimizer", "lr"), 0.1, preset)
    source.fill_in(("training", "milestones"), (6, 8), preset)
    assert source.values == {"training": {"preset": "x", "optimizer": {"lr": 0.1}, "milestones": [6, 8]}}
    assert source.has(("training", "optimizer", "lr"))
    assert str(source.where(("training", "optimizer", "lr"))) == "s.yaml:1"


def test_nothing_is_filled_in_where_there_is_no_mapping() -> None:
    source = read_source("training: {optimizer: sgd}\n", "s.yaml")
    source.fill_in(("training", "optimizer", "lr"), 0.1, source.where(()))
    assert source.values == {"training": {"optimizer": "sgd"}}
    assert not source.has(("training", "optimizer", "lr"))


def test_plain_data_have_places_without_lines() -> None:
    source = plain_source({"k": (1, 2), "data": {"name": "digits"}}, "study")
    assert source.values == {"k": [1, 2], "data": {"name": "digits"}}
    assert str(source.where(("data", "name"))) == "study"


@pytest.mark.parametrize("value", [Path("x"), {1, 2}])
def test_what_is_no_plain_data_is_refused(value: object) -> None:
    with pytest.raises(StudyError, match=r"^study: must be plain data, got Object of type .* not JSON serializable\.$"):
        plain_source({"data": value}, "study")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("study: s\n\tk: 2\n", "2: must be indented with spaces, got a tab."),
        ("study: a: b\n", "1: must have one colon with a space after it, or text in quotes, got another."),
        ("arms: {a: 1\nk: 2\n", "2: must have ',' or '}' here, got ':'."),
        ("k: [1, 2\n", "2: must close every [, got the end of the text."),
    ],
)
def test_what_is_no_yaml_is_told_in_plain_words(text: str, rule: str) -> None:
    with pytest.raises(StudyError) as caught:
        read_source(text, "s.yaml")
    assert caught.value.errors == (f"s.yaml:{rule}",)


def test_a_device_and_a_huge_file_are_refused_before_they_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "huge.yaml").write_bytes(b"#" * 1_000_001)
    for name, rule in (
        ("pipe.yaml", "must be a regular file, got a device, a pipe or a socket."),
        ("huge.yaml", "must be at most a megabyte, got 1,000,001 bytes."),
        ("none.yaml", "must be a study file or the name of a bundled study, got no such file."),
    ):
        with pytest.raises(StudyError, match=rule):
            open_study(tmp_path / name)


@pytest.mark.parametrize("field", ["training..epochs", ".epochs", "training.", "grid.data..name"])
def test_a_field_with_nothing_between_its_dots_is_refused(field: str) -> None:
    source = read_source("study: a\n", "a.yaml")
    with pytest.raises(StudyError, match=r"must be a field with names between its dots, got '"):
        source.override(f"{field}=3")
