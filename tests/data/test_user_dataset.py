from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.data import base_settings, declaration_of, load_base, load_dataset
from setsweep.trainables.config.sections import check_data

SOURCE = """
import torch
from setsweep.data.dataset import Dataset, Split

def two_points(*, root, spread=1.0, fail=False):
    inputs = torch.tensor([[0.0], [spread]]).repeat(10, 1)
    split = Split(inputs, torch.tensor([0, 1]).repeat(10))
    return Dataset(split, split, split, num_classes=3 if fail else 2, class_names=(str(root), "b"))

NUMBER = 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module of the user's."""
    (tmp_path / "points_of_mine.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "points_of_mine", raising=False)
    return "points_of_mine"


def test_settings_pass_through_and_reach_the_function(own: str, tmp_path: Path) -> None:
    settings = {"name": f"{own}:two_points", "spread": 4.0}

    dataset = load_base(settings, root=tmp_path)

    assert check_data(settings) == {**settings, "label_noise": 0.0, "label_noise_kind": "exact", "calibration": 0.0}
    assert check_data(check_data(settings)) == check_data(settings)
    assert isinstance(dataset.train.inputs, torch.Tensor)
    assert dataset.train.inputs.max() == 4.0
    assert dataset.class_names == (str(tmp_path), "b")


def test_label_noise_is_the_runs_and_the_rest_is_shared(own: str) -> None:
    settings = {"name": f"{own}:two_points", "label_noise": 1}

    run = load_dataset(settings, seed=0)

    assert run.train.labels.tolist() == [1, 0] * 10
    assert base_settings(settings) == {"name": f"{own}:two_points"}


def test_published_label_noise_is_refused_once_the_classes_are_known(own: str) -> None:
    settings = {"name": f"{own}:two_points", "label_noise_kind": "published"}

    assert check_data(settings)["label_noise_kind"] == "published"
    rule = (
        r"^data\.label_noise_kind must be exact where the classes don't divide into blocks of 5, got published for 2\.$"
    )
    with pytest.raises(ValueError, match=rule):
        load_dataset(settings, seed=0)


def test_checking_the_settings_imports_nothing() -> None:
    settings = {"name": "a.module.that.is.not.there:function", "sizes": [1, {"a": None}]}

    assert check_data(settings)["sizes"] == [1, {"a": None}]
    assert declaration_of(settings).num_classes is None
    assert set(declaration_of(settings).settings) == {"label_noise", "label_noise_kind", "calibration", "sizes"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "a:"}, "data.name must be a data set's name or package.module:function, got 'a:'."),
        ({"name": "a/b:c"}, "data.name must be a data set's name or package.module:function, got 'a/b:c'."),
        ({"name": "a:b:c"}, "data.name must be a data set's name or package.module:function, got 'a:b:c'."),
        ({"name": "a:b", "label_noise": 2}, "data.label_noise must be between 0 and 1, got 2."),
        ({"name": "a:b", "label_noise": "some"}, "data.label_noise must be a number between 0 and 1, got 'some'."),
        ({"name": "a:b", "x": float("nan")}, "data.x must be plain data, got nan."),
        ({"name": "a:b", "x": Path("y")}, "data.x must be plain data, got PosixPath('y')."),
    ],
)
def test_names_and_settings_of_another_form_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        check_data(settings)

    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "no_such_module:f"}, r"^data\.name: no_such_module can't be imported: ModuleNotFoundError"),
        ({"name": "points_of_mine:f"}, r"^data\.name must name a function, got 'points_of_mine:f'; points_of_mine has"),
        ({"name": "points_of_mine:NUMBER"}, r"^data\.name must name a function"),
        ({"name": "points_of_mine:two_points", "sprad": 1}, r"^data: points_of_mine:two_points .*'sprad'"),
        (
            {"name": "points_of_mine:two_points", "fail": True},
            r"^points_of_mine:two_points: train must have an example of every class, got none of 2\.$",
        ),
    ],
)
@pytest.mark.usefixtures("own")
def test_functions_that_do_not_fit_are_said(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_base(settings)
