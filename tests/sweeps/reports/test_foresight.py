"""What the tests of a study will be able to see."""

from __future__ import annotations

from typing import Any

from setsweep.sweeps.reports.foresight import smallest_difference
from setsweep.sweeps.study.parts import Compare, Confirm


def test_what_so_many_seeds_see_is_told_in_standard_deviations(make_study: Any) -> None:
    # statsmodels 0.15: TTestPower().solve_power(nobs=5, power=0.8, alpha=0.05) is 1.682, with alpha=0.05 / 4 2.477.
    assert smallest_difference(make_study()) == (
        "5 seeds find a difference of 1.7 standard deviations with probability 0.8, 2.5 at the first step of the "
        "correction over 4 (of differences on a seed)."
    )


def test_results_tell_how_large_a_standard_deviation_is(make_study: Any, results: Any) -> None:
    study = make_study()
    assert "; those so far have 0." in smallest_difference(study, results(study))
    assert smallest_difference(study, results(study)).endswith(" points).")


def test_without_a_correction_there_is_one_level(make_study: Any) -> None:
    study = make_study(compare=Compare(baseline="cross_entropy", correction="none"))
    assert " with probability 0.8 (of differences" in smallest_difference(study)


def test_two_seeds_find_nothing_and_nothing_is_said_where_nothing_is_compared(make_study: Any) -> None:
    assert smallest_difference(make_study(confirm_seeds=(0, 1))) == (
        "With 2 seeds to confirm with no difference can be tested: it takes 3."
    )
    assert smallest_difference(make_study(compare=Compare())) == ""


def test_a_confirmation_to_a_precision_says_itself_what_it_sees(make_study: Any) -> None:
    assert smallest_difference(make_study(confirm=Confirm(half_width=0.003))) == ""
