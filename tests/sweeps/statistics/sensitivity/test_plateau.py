from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from setsweep.sweeps.statistics.sensitivity.plateau import Plateau, cannot_be_told, plateau
from setsweep.sweeps.statistics.sensitivity.scale import Scale, scale_of
from setsweep.sweeps.statistics.sensitivity.two_way import fit_two_way

ALPHAS = [0.1, 0.3, 1.0, 3.0, 10.0]
LOG = Scale(kind="log", low=0.1, high=10.0)
# Two values far below, three about equal; the spread over seeds is small.
MEANS = [1.0, 1.5, 2.40, 2.42, 2.41]


@pytest.fixture
def scores(trained: Any) -> Any:
    return trained(np.random.default_rng(0), MEANS, 5, examples=10_000)


def found(scores: Any, **options: Any) -> Plateau:
    return plateau(ALPHAS, scores, LOG, confidence=0.95, **options)


def test_values_as_good_as_the_best_are_members_and_others_are_not(scores: Any) -> None:
    assert found(scores).members == (False, False, True, True, True)


def test_the_members_are_those_within_tukeys_honest_difference_of_the_best(scores: Any) -> None:
    model = fit_two_way(scores)
    near = model.means.max() - model.means <= model.honest_difference(0.95)
    assert cannot_be_told(scores, confidence=0.95) == (tuple(near.tolist()), int(model.means.argmax()))


def test_its_extent_is_told_on_the_declared_scale(scores: Any) -> None:
    one = found(scores, default=1.0, chosen=0.3)
    assert (one.low, one.high, one.extent.unit, one.extent.amount) == (1.0, 10.0, "decades", pytest.approx(1))
    assert one.extent.share == pytest.approx(0.5)
    assert (one.default_inside, one.chosen_inside) == (True, False)


def test_the_sentence_is_what_a_user_takes_home(trained: Any) -> None:
    alphas = [0.1, 0.8, 3.0, 10.0, 30.0]
    scores = trained(np.random.default_rng(0), [1.0, 2.4, 2.42, 2.41, 1.2], 5, examples=10_000)
    one = plateau(alphas, scores, Scale(kind="log", low=0.1, high=30), confidence=0.95, default=1.0)
    # log10(10 / 0.8) = 1.097 decades of log10(300) = 2.477: 44 %.
    assert one.sentence("alpha") == (
        "alpha 0.8 to 10 can't be told from the best (95 %): 1.1 decades, 44 % of the range; default inside"
    )


def test_a_best_value_at_the_edge_is_warned_of(trained: Any) -> None:
    scores = trained(np.random.default_rng(0), [1.0, 1.2, 1.5, 2.0, 2.5], 5, examples=10_000)
    one = found(scores)
    assert (one.edge, one.low, one.high) == ("high", 10.0, 10.0)
    assert one.sentence("alpha") == (
        "alpha 10 is told from its neighbours (95 %); the best is the highest value tried: better ones may lie beyond"
    )


def test_an_order_of_names_has_no_edge(trained: Any) -> None:
    scores = trained(np.random.default_rng(0), [1.0, 1.5, 2.5], 5)
    names = ["sgd", "adam", "lion"]
    one = plateau(names, scores, scale_of(names), confidence=0.95, default="sgd")
    assert (one.best, one.edge, one.default_inside) == ("lion", None, False)


def test_the_order_in_which_values_are_given_does_not_matter(scores: Any) -> None:
    turned = [3, 0, 4, 2, 1]
    one = plateau([ALPHAS[i] for i in turned], scores[turned], LOG, confidence=0.95)
    assert (one.low, one.high, one.best) == (found(scores).low, found(scores).high, found(scores).best)
    assert one.members == tuple(found(scores).members[i] for i in turned)


def test_members_beyond_a_gap_are_told_apart_from_the_stretch(trained: Any) -> None:
    scores = trained(np.random.default_rng(0), [2.40, 1.0, 2.42, 2.43, 1.0], 5, examples=10_000)
    one = found(scores)
    assert (one.low, one.high, one.apart) == (1.0, 3.0, (0.1,))
    assert "nor can 0.1, apart from it" in one.sentence("alpha")


def test_a_value_of_which_a_run_failed_is_never_a_member_and_breaks_the_stretch(scores: Any) -> None:
    one = found(scores, failures=[0, 0, 0, 1, 0])
    assert one.members == (False, False, True, False, True)
    assert one.failing == (3.0,)
    assert one.low == one.high == one.best
    assert len(one.apart) == 1


def test_a_value_that_has_not_been_run_neither_counts_nor_breaks_the_stretch(scores: Any) -> None:
    scores[3] = np.nan
    one = found(scores)
    assert one.members == (False, False, True, False, True)
    assert (one.low, one.high) == (1.0, 10.0)


def test_a_default_without_a_place_on_the_scale_is_neither_inside_nor_outside(scores: Any) -> None:
    assert found(scores, default="auto").default_inside is None
    assert found(scores).default_inside is None


def test_scores_that_do_not_match_the_values_are_refused(scores: Any) -> None:
    with pytest.raises(ValueError, match="there must be one row of scores and one number of failures for each value"):
        plateau(ALPHAS[:3], scores, LOG, confidence=0.95)
    with pytest.raises(ValueError, match="got 5 rows of scores and 2 numbers of failures"):
        found(scores, failures=[0, 1])


def test_one_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="2 values and 2 seeds without holes at least, got 5 values and 1 seeds"):
        found([[0.5], [0.6], [0.7], [0.6], [0.5]])


def held(trained: Any, mu: Any, seeds: int, studies: int, **spread: Any) -> tuple[float, float, float]:
    """Shares of studies that hold a best value, and all values as good as it; and the mean number of members."""
    draw, equal = np.random.default_rng(2), np.flatnonzero(np.isclose(mu, np.max(mu)))
    best = every = size = 0
    for _ in range(studies):
        members, _ = cannot_be_told(trained(draw, mu, seeds, **spread), confidence=0.95)
        best += members[equal[0]]
        every += all(members[g] for g in equal)
        size += sum(members)
    return best / studies, every / studies, size / studies


def test_the_plateau_holds_the_best_and_all_that_are_as_good(trained: Any) -> None:
    # 9 equal values, the hardest case: 400 studies; sd of a share at 0.95 is 0.011, at 0.993 0.004: 4.5 sd below.
    best, every, _ = held(trained, np.full(9, 2.4), 5, 400)
    assert best > 0.975
    assert every > 0.9


CURVES = {
    "flat": np.full(9, 2.4),
    "top of 4 of 9": np.array([1.8, 2.0, 2.2, 2.4, 2.4, 2.4, 2.4, 2.2, 2.0]),
    "hill of 9": 2.4 - 2 * (np.linspace(0, 1, 9) - 0.6) ** 2,
    "flat, 21": np.full(21, 2.4),
    "hill of 21": 2.4 - 2 * (np.linspace(0, 1, 21) - 0.6) ** 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [5, 10])
@pytest.mark.parametrize("curve", CURVES)
def test_the_plateau_holds_as_often_as_it_says(trained: Any, curve: str, seeds: int) -> None:
    # 4000 studies: sd of a share at 0.95 0.0035, at 0.99 0.0016; 0.985 and 0.94 are 3 sd below what is promised.
    best, every, size = held(trained, CURVES[curve], seeds, 4000)
    print(f"{curve}, n = {seeds}: best {best:.1%}, all as good {every:.1%}, members {size:.1f}")
    assert best >= 0.985
    assert every >= 0.94


@pytest.mark.slow
def test_the_plateau_holds_where_values_do_not_spread_alike(trained: Any) -> None:
    # Spreads from 0.05 to 0.11 on logits, as measured between configurations: what is promised may slip a little.
    best, every, size = held(trained, np.full(9, 2.4), 5, 4000, rest=np.linspace(0.05, 0.11, 9))
    print(f"unequal spreads: best {best:.1%}, all as good {every:.1%}, members {size:.1f}")
    assert best >= 0.98
    assert every >= 0.92
