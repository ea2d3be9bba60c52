"""The fields `coverage` and `conformal`: which conformal sets a run is measured by, checked and complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setsweep.losses.values import as_number
from setsweep.trainables.conformal.how import CONFORMAL, Conformal
from setsweep.trainables.settings.problems import ConfigError, Problem, Problems
from setsweep.trainables.settings.rules import Rule, listed, real
from setsweep.trainables.settings.setting import Setting


def _coverages() -> Rule:
    one = real(above=0, below=1)
    several = listed(one, ascending=True)

    def check(value: object) -> tuple[float, ...]:
        found: tuple[float, ...] = several.check([value] if as_number(value) is not None else value)
        if not found:
            raise ValueError("must be a share or a list of some, got [].")
        return found

    schema = {"anyOf": [one.schema, {**several.schema, "minItems": 1}]}
    return Rule("other", check, "a number > 0 and < 1, or an ascending list of them", schema)


COVERAGE = Setting(_coverages(), (), "of conformal sets: the share of labels that they are to hold, or some")


def check_sets(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a configuration, or of a study, that say which conformal sets there are. Raises ConfigError."""
    coverage = check_coverage(plain["coverage"]) if "coverage" in plain else ()
    return {"coverage": coverage, "conformal": check_conformal(plain.get("conformal", {}), coverage)}


def check_coverage(value: Any) -> tuple[float, ...]:
    """The coverages, ascending. Raises ConfigError."""
    try:
        found: tuple[float, ...] = COVERAGE.check(value)
    except ValueError as error:
        raise ConfigError([Problem("coverage", str(error))]) from None
    return found


def check_conformal(plain: Any, coverage: tuple[float, ...]) -> Conformal:
    """How conformal sets are made, every default filled in.

    Args:
        plain: the settings given.
        coverage: of the sets; with none there is nothing to say of them.

    Raises:
        ConfigError: unknown settings, values out of range, or settings of sets that nobody asks for.
    """
    if not isinstance(plain, Mapping):
        raise ConfigError([Problem("conformal", f"must be a mapping, got {plain!r}.")])
    if plain and not coverage:
        raise ConfigError([Problem("conformal", f"must be left out without coverage, got {', '.join(plain)}.")])
    problems = Problems()
    given = problems.values("conformal", plain, CONFORMAL)
    problems.raise_any()
    return Conformal(**given)
