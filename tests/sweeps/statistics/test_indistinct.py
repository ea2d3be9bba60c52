from __future__ import annotations

from setsweep.sweeps.statistics.indistinct import indistinct_from_best

UP_AND_DOWN = (0.00, 0.02, -0.01, 0.01, -0.02)


def _values(level: float, swing: float = 1.0, seeds: int = 5) -> dict[int, float]:
    return {seed: level + swing * UP_AND_DOWN[seed] for seed in range(seeds)}


def test_what_is_surely_worse_is_told_and_what_is_nearly_as_good_is_not() -> None:
    values = {"best": _values(0.90), "near": _values(0.895, -1.0), "far": _values(0.70, 0.5)}
    assert indistinct_from_best(values, confidence=0.95) == {"best", "near"}


def test_the_seeds_are_paired() -> None:
    """Half a point less with every seed, give or take a tenth of it: seen, although seeds swing by four points."""
    less = {seed: value - 0.005 + 0.0005 * (-1) ** seed for seed, value in _values(0.90).items()}
    assert indistinct_from_best({"best": _values(0.90), "less": less}, confidence=0.95) == {"best"}


def test_of_two_seeds_nothing_is_told() -> None:
    assert indistinct_from_best({"a": _values(0.9, seeds=2), "b": _values(0.1, seeds=2)}, confidence=0.95) == {"a", "b"}


def test_names_without_values_are_not_among_the_best() -> None:
    assert indistinct_from_best({"a": {}, "b": {0: 0.5}}, confidence=0.95) == {"b"}
    assert indistinct_from_best({"a": {}}, confidence=0.95) == frozenset()
