"""CMA-ES as a function of the trials before: nothing of its state is kept, and it comes down to the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setsweep.sweeps.planning.samplers.evolution import Evolution
from setsweep.sweeps.study.space import Space

SPACES = {
    "loss.alpha": Space(kind="log_uniform", low=0.01, high=100.0, default=1.0),
    "training.momentum": Space(kind="uniform", low=0.0, high=1.0, default=0.9),
}
POPULATION = 6
Values = Mapping[str, Any]


def _evolution(seed: int = 0, start: Values | None = None) -> Evolution:
    return Evolution(SPACES, start, POPULATION, seed)


def _objective(values: Values) -> float:
    """Best at alpha 10, three quarters of the way on its scale, and a momentum of 0.25."""
    from setsweep.sweeps.planning.samplers.cube import to_cube

    first, second = to_cube(SPACES, values)
    return -((first - 0.75) ** 2) - (second - 0.25) ** 2


def _play(trials: int, evolution: Evolution | None = None) -> tuple[dict[int, Values], dict[int, Sequence[float]]]:
    tried: dict[int, Values] = {}
    objectives: dict[int, Sequence[float]] = {}
    for number in range(trials):
        tried[number] = (evolution or _evolution()).ask(number, dict(tried), dict(objectives))
        if number % POPULATION == POPULATION - 1:
            objectives |= {each: [_objective(tried[each])] for each in tried}
    return tried, objectives


def test_asking_one_object_all_the_way_or_a_new_one_each_time_is_the_same() -> None:
    assert _play(20, _evolution()) == _play(20)


def test_a_generation_depends_on_those_before_it_and_not_on_its_own_results() -> None:
    tried, objectives = _play(2 * POPULATION)
    own = {number: [0.0] for number in range(POPULATION, 2 * POPULATION)}
    assert _evolution().ask(2 * POPULATION - 1, tried, objectives | own) == tried[2 * POPULATION - 1]
    other = {number: [-values[0]] for number, values in objectives.items()}
    assert _evolution().ask(POPULATION, tried, other) != tried[POPULATION]


def test_all_values_lie_inside_of_their_ranges() -> None:
    tried, _ = _play(60)
    assert all(SPACES[path].contains(value) for values in tried.values() for path, value in values.items())


def test_the_first_generation_is_drawn_around_the_start() -> None:
    """With a standard deviation of 0.3 of the side: six draws' mean lies within 0.5 of it but once in 20,000 times."""
    corner = {"loss.alpha": 100.0, "training.momentum": 1.0}
    firsts = [_evolution(start=corner).ask(number, {}, {}) for number in range(POPULATION)]
    assert sum(values["training.momentum"] for values in firsts) / POPULATION > 0.5
    assert firsts != [_evolution().ask(number, {}, {}) for number in range(POPULATION)]


def test_the_last_generations_lie_closer_to_the_optimum_than_the_first() -> None:
    """Seeded: the mean distance falls from 0.4 to below a tenth of it."""
    _, objectives = _play(20 * POPULATION)
    first = sum(objectives[number][0] for number in range(POPULATION))
    last = sum(objectives[number][0] for number in range(19 * POPULATION, 20 * POPULATION))
    assert last > first / 10


def test_another_seed_draws_others() -> None:
    assert _evolution(seed=1).ask(0, {}, {}) != _evolution(seed=0).ask(0, {}, {})
