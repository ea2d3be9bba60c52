"""Sensitivity studies: which values are tried, and what is refused."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema.protocols import Validator

from setsweep.sweeps.study.design.axes import is_logarithmic
from setsweep.sweeps.study.design.layout import axes_of, design
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.varied import Sensitivity

Read = Callable[..., Study]
Errors = Callable[..., list[str]]


@pytest.fixture
def read(read_text: Read, example: str) -> Callable[[str], Sensitivity]:
    """Calls give the sensitivity study of the example with that section."""

    def call(section: str) -> Sensitivity:
        found = read_text(example, f"sensitivity={section}").sensitivity
        assert found is not None
        return found

    return call


def values(study: Sensitivity, path: str) -> Any:
    (axis,) = (axis for axis in study.axes if axis.path == path)
    return axis.values


def test_a_number_is_that_many_values_on_the_range_and_scale_that_is_searched(read: Any) -> None:
    # The example searches alpha from 0.1 to 10: two decades, in steps of 10 ** 0.25.
    study = read("{avgk.alpha: 9}")
    assert values(study, "avgk.alpha") == (0.1, 0.178, 0.316, 0.562, 1.0, 1.78, 3.16, 5.62, 10.0)
    assert study.axes[0].log


def test_without_a_search_the_declared_range_is_meant(read: Any) -> None:
    # num_samples is declared 1 to 50: (1 + 50) / 2 = 25.5 becomes a whole number.
    assert values(read("{noised_topk_hinge.num_samples: 3}"), "noised_topk_hinge.num_samples") == (1, 26, 50)


def test_a_list_is_taken_as_it_is_in_order_and_may_leave_the_searched_range(read: Any) -> None:
    assert values(read("{avgk.alpha: [30, 0, 1e-2]}"), "avgk.alpha") == (0.0, 0.01, 30.0)
    assert values(read("{training.batch_size: [64, full, 32]}"), "training.batch_size") == (64, "full", 32)


def test_what_is_left_out_has_its_default(read: Any) -> None:
    study = read("{avgk.alpha: 3}")
    assert (study.seeds, study.at, study.points) == ((0, 1, 2, 3, 4), "chosen", 64)


@pytest.mark.parametrize(
    ("given", "declared", "expected"),
    [
        ((32, 64, 128), False, True),  # equal ratios
        ((0.1, 0.2, 0.3), False, False),  # equal differences
        ((1, 3, 5, 10), False, True),
        ((0, 0.01, 0.1), True, True),  # declared so: 0 is drawn on a symlog axis
        ((0, 1, 2), False, False),
        ((32, "full"), True, False),
    ],
)
def test_lists_are_logarithmic_where_their_ratios_are_more_even_or_the_range_is(
    given: Any, declared: bool, expected: bool
) -> None:
    assert is_logarithmic(given, declared=declared) is expected


def test_an_arm_has_the_axes_that_concern_it(read: Any, read_text: Read, example: str) -> None:
    study = read("{avgk.alpha: 3, training.batch_size: [32, 64], loss.epsilon: [0.1, 1]}")
    arms = read_text(example).arms
    assert {name: list(axes_of(study, arm)) for name, arm in arms.items()} == {
        "cross_entropy": ["training.batch_size"],
        "avgk": ["loss.alpha", "training.batch_size"],
        "noised_topk_hinge": ["training.batch_size", "loss.epsilon"],
    }


def test_two_hyperparameters_are_a_full_grid_the_last_varying_fastest(read: Any, read_text: Read, example: str) -> None:
    study = read("{avgk.alpha: [1, 2], training.batch_size: [32, 64]}")
    found = [tuple(each.values()) for each in design(study, read_text(example).arms["avgk"])]
    assert found == [(1.0, 32), (1.0, 64), (2.0, 32), (2.0, 64)]
    assert len(design(study, read_text(example).arms["cross_entropy"])) == 2


def test_three_are_distinct_cells_of_their_grid_that_fill_it_evenly_and_are_always_the_same(
    read: Any, read_text: Read, example: str
) -> None:
    section = "{avgk.alpha: 9, training.batch_size: [32, 64, 128, 256], training.optimizer.lr: [0.01, 0.02, 0.04, 0.08], points: 48}"
    arm = read_text(example).arms["avgk"]
    points = design(read(section), arm)
    cells = [tuple(each.values()) for each in points]
    assert len(set(cells)) == len(cells) == 48
    # Of 48 even points 48 / 4 = 12 have each batch size; a Sobol sequence misses that by a few repeats alone.
    assert all(abs(sum(cell[1] == size for cell in cells) - 12) <= 3 for size in (32, 64, 128, 256))
    assert points == design(read(section), arm)


def test_few_combinations_of_three_are_all_tried(read: Any, read_text: Read, example: str) -> None:
    study = read("{avgk.alpha: [1, 2], training.batch_size: [32, 64], training.optimizer.lr: [0.1, 0.2]}")
    assert len(design(study, read_text(example).arms["avgk"])) == 8


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{avgk.alpha: [-1, 2]}", "avgk.alpha: must be >= 0, got -1."),
        ("{noised_topk_hinge.epsilon: [0.1, -0.1]}", "noised_topk_hinge.epsilon: must be >= 0, got -0.1."),
        ("{avgk.alpha: 1}", "avgk.alpha: must be between 2 and 101, got 1."),
        ("{avgk.alpha: [1]}", "avgk.alpha: must be two values or more, got [1]."),
        ("{avgk.alpha: [1, 1.0]}", "avgk.alpha: must be a list of distinct values, got 1.0 again."),
        ("{avgk.alpah: 9}", "avgk.alpah: unknown hyperparameter 'avgk.alpah'. Did you mean 'avgk.alpha'?"),
        ("{avkg.alpha: 9}", "avkg.alpha: unknown hyperparameter 'avkg.alpha'. Did you mean 'avgk.alpha'?"),
        (
            "{training.batch_size: 3}",
            "training.batch_size: must be a list of values, as training.batch_size has no range to lay a grid on.",
        ),
        (
            "{noised_topk_hinge.num_samples: 90}",
            "num_samples: must be at most the 50 whole values of [1, 50] at equal steps, got 90.",
        ),
        ("{avgk.alpha: 3, seeds: 1}", "seeds: must be 2 seeds or more, as intervals are over seeds, got 1."),
        ("{avgk.alpha: 3, seeds: [3, 1000]}", "seeds: must be fresh, none of those of the search, got [1000] in both."),
        ("{avgk.alpha: 3, at: best}", "at: must be one of chosen, default, got 'best'."),
        ("{seeds: 5}", "sensitivity: must name a hyperparameter, as in ARM.alpha: 9, got none."),
        (
            "{avgk.alpha: 3, points: 20}",
            "points: must be left out where no arm has three hyperparameters to vary, got 20.",
        ),
        ("{avgk.alpha: 3, loss.alpha: 4}", "loss.alpha: must be given once for avgk, got avgk.alpha as well."),
        (
            "{avgk.alpha: 40, training.batch_size: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]}",
            "sensitivity: must have at most 1000 combinations of avgk, got 1040.",
        ),
        ("{training.epochs: [5, 10]}", "milestones"),
    ],
)
def test_what_can_not_be_varied_is_told_with_its_field(
    errors_of: Errors, example: str, section: str, message: str
) -> None:
    assert any(message in error for error in errors_of(example, f"sensitivity={section}"))


def test_what_the_grid_has_is_not_varied_as_well(errors_of: Errors, example: str) -> None:
    (error,) = errors_of(
        example, "grid={avgk.y_in_negatives: [true, false]}", "sensitivity={loss.y_in_negatives: [true, false]}"
    )
    assert error.endswith("sensitivity.loss.y_in_negatives: must be in the grid or varied here, got both.")


@pytest.mark.parametrize(
    ("section", "valid"),
    [
        ({"avgk.alpha": 9, "training.batch_size": [32, 64], "seeds": 5, "at": "default"}, True),
        (None, True),
        ({"avgk.alpha": [1]}, False),
        ({"avgk.alpha": 1}, False),
        ({"training.batch_siez": [32, 64]}, False),
        ({"training.batch_size": [32, -64]}, False),
        ({"alpha": 9}, False),
    ],
)
def test_the_schema_says_the_same(validator: Validator, section: Any, valid: bool) -> None:
    small = {"study": "s", "data": {"name": "digits"}, "model": {"name": "linear"}, "k": 2, "arms": {"avgk": None}}
    assert validator.is_valid(small | {"sensitivity": section}) is valid
