"""Whether what is installed is what Setsweep needs."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement

from setsweep.sweeps.commands.health.finding import Finding

SHOWN = ("torch", "torchvision", "numpy", "ray", "optuna", "mlflow")


def check_versions(of: str = "setsweep") -> Iterator[Finding]:
    """The versions of what matters most, and every requirement of a package that is not met."""
    try:
        needed = [Requirement(line) for line in requires(of) or ()]
    except PackageNotFoundError:
        needed = []
        yield Finding(of="versions", state="note", said=f"{of} is not installed; it runs from its source.")
    there = ", ".join(f"{name} {found}" for name in (of, *SHOWN) if (found := _version(name)))
    yield Finding(of="versions", said=f"Python {platform.python_version()}, {there}")
    for requirement in needed:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        found = _version(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            yield Finding(
                of="versions",
                state="wrong",
                said=f"{requirement.name} must be {requirement.specifier}, got {found or 'none'}.",
                mend=f"pip install '{requirement.name}{requirement.specifier}'",
            )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
