"""Options of a command as a command line has them, for one command that starts another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def as_words(options: Mapping[str, object]) -> list[str]:
    """``{"set": ["a=1"], "yes": True, "rate": None}`` is ``--set=a=1 --yes``; what is None or False is left out."""
    words = []
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, list | tuple):
            words += [f"--{name}={each}" for each in value]
        elif value is not None and value is not False:
            words.append(f"--{name}={value}")
    return words


def with_budget(
    overrides: Iterable[str] | None, max_time: float | None, max_runs: int | None, max_gpu_hours: float | None
) -> list[str]:
    """Overrides of a study that put its budget over what its file says."""
    budget = {"max_time": max_time, "max_runs": max_runs, "max_gpu_hours": max_gpu_hours}
    given = [f"budget.{name}={value}" for name, value in budget.items() if value is not None]
    return [*(overrides or ()), *given]
