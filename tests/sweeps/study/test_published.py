"""Numbers of papers in a study: what is read of them, and everything that can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from setsweep.sweeps.study.published import Published
from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.source import bundled_studies

TEXT = """\
study: beside
data: {name: digits}
model: {name: linear}
k: [1, 2]
arms: {cross_entropy: {}, avgk: {}}
grid: {data.label_noise: [0.0, 0.2]}
published:
"""
ENTRY = "  - {{where: table 1, metric: {metric}, point: {point}, values: {values}{more}}}\n"


def _read(
    folder: Path,
    metric: str = "test/avg2_accuracy",
    point: str = "{data.label_noise: 0.2}",
    values: str = "{avgk: [97.5, 0.25], cross_entropy: 95}",
    more: str = "",
) -> Study:
    (folder / "s.yaml").write_text(TEXT + ENTRY.format(metric=metric, point=point, values=values, more=more))
    return read_study(folder / "s.yaml")


def test_percents_are_shares_in_the_record_and_a_number_alone_has_no_spread(tmp_path: Path) -> None:
    both = {"where": "table 1", "point": {"data.label_noise": 0.2}, "metric": "test/avg2_accuracy", "kind": "ci"}
    assert _read(tmp_path).published == (
        Published(arm="avgk", mean=0.975, spread=0.0025, seeds=None, **both),  # type: ignore[arg-type]
        Published(arm="cross_entropy", mean=0.95, spread=None, seeds=None, **both),  # type: ignore[arg-type]
    )


def test_a_point_has_the_values_of_the_grid_as_they_are_there(tmp_path: Path) -> None:
    """0 is 0.0 in the grid, and a key of aggregates is made of it."""
    [one, _] = _read(tmp_path, point="{data.label_noise: 0}").published
    assert repr(one.point["data.label_noise"]) == "0.0"


def test_set_sizes_are_labels(tmp_path: Path) -> None:
    study = _read(tmp_path, metric="test/avg2_set_size", values="{avgk: [2.01, 0.02]}", more=", seeds: 4, spread: sd")
    [one] = study.published
    assert (one.mean, one.spread, one.kind, one.seeds) == (2.01, 0.02, "sd", 4)


def test_numbers_may_be_of_validation(tmp_path: Path) -> None:
    """Which tables 2 and 3 of the noised paper print."""
    assert {each.metric for each in _read(tmp_path, metric="val/top1_accuracy").published} == {"val/top1_accuracy"}


def test_numbers_of_another_epochs_metric_are_read_there(tmp_path: Path) -> None:
    study = _read(tmp_path, metric='"test/top1_accuracy@avg2_accuracy"')
    assert study.at_epochs == ("test/top1_accuracy@avg2_accuracy",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"values": "{avgkk: 97.5}"}, "published.values.avgkk: unknown arm 'avgkk'"),
        ({"metric": "test/avg3_accuracy"}, "unknown test metric 'test/avg3_accuracy'"),
        ({"metric": "val/avg3_accuracy"}, "unknown validation metric 'val/avg3_accuracy'"),
        ({"point": "{}"}, "must say the whole point of the grid, got none of data.label_noise"),
        ({"point": "{data.label_noise: 0.3}"}, "must be one of the grid's values [0.0, 0.2], got 0.3"),
        ({"point": "{data.noise: 0.2}"}, "unknown key of the grid 'data.noise'"),
        ({"point": "[1]"}, "must be a mapping, got [1]"),
        ({"values": "{avgk: high}"}, "must be a number or [number, spread], got 'high'"),
        ({"values": "{avgk: [97.5, -1]}"}, "must be a number or [number, spread], got [97.5, -1]"),
        ({"values": "[97.5]"}, "must be numbers by arm"),
        ({"values": "{}"}, "values: must be given, got nothing"),
        ({"more": ", spread: variance"}, "published.spread: "),
        ({"more": ", seeds: 0"}, "published.seeds: must be"),
        ({"more": ", tabel: 1"}, "unknown field 'tabel'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    with pytest.raises(StudyError) as caught:
        _read(tmp_path, **changes)
    assert any(said in error and error.startswith(str(tmp_path / "s.yaml:8")) for error in caught.value.errors), (
        caught.value.errors
    )


@pytest.mark.parametrize("given", ["published: 3\n", "published: [3]\n"])
def test_what_is_no_table_is_refused(tmp_path: Path, given: str) -> None:
    (tmp_path / "s.yaml").write_text(TEXT.replace("published:\n", given))
    with pytest.raises(StudyError, match=r"published.*must be a"):
        read_study(tmp_path / "s.yaml")


def test_published_numbers_change_nothing_of_what_is_run(tmp_path: Path) -> None:
    with_numbers = _read(tmp_path)
    (tmp_path / "s.yaml").write_text(TEXT.replace("published:\n", ""))
    without = read_study(tmp_path / "s.yaml")
    assert without.published == ()
    assert with_numbers.protocol() == without.protocol()


def test_the_papers_studies_have_the_numbers_of_their_tables() -> None:
    """Counted in the papers: table 1 and the supplement's of the two-head paper have six losses each, its table 3 three
    columns; table 2 five losses at four k with an accuracy and three classes of rarity, the supplement's five sizes and
    three columns of heads at four k; table 7 five losses with an accuracy and three groups on three networks;
    tables 4 and 6 of the noised preprint three losses at five levels of noise, its tables 5 and 7 six losses at four
    k less one at k = 1; tables 2 and 3 eight and seven values; Sawada's table I two metrics of 4, 4, 3 and 3 losses.
    Studies of what was tuned hold their own part of the same tables.
    """
    counts = {name: len(read_study(name).published) for name in bundled_studies()}
    assert {name: count for name, count in counts.items() if count} == {
        "garcin2022-cifar100": 2 * 3 * 5,
        "garcin2022-cifar100-draws": 7,
        "garcin2022-cifar100-epsilon": 8,
        "garcin2022-plantnet300k": 2 * (6 * 4 - 1),
        "garcin2022-plantnet300k-tuned": 6,
        "garcin2023-cifar100": 2 * 6 + 3,
        "garcin2023-cifar100-tuned": 6,
        "garcin2023-plantnet300k": 5 * 4 * 4 + 5 * 4 + 3 * 4,
        "garcin2023-plantnet300k-backbones": 5 * 4 * 3,
        "garcin2023-plantnet300k-tuned": 5,
        "sawada2020-cifar100": 2 * 4,
        "sawada2020-cifar100-densenet": 2 * 4,
        "sawada2020-cifar100-densenet-mixup": 2 * 3,
        "sawada2020-cifar100-mixup": 2 * 3,
    }
