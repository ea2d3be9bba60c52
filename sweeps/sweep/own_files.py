"""The user's own modules that a study names: they go with it wherever its runs are trained."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from setsweep.data.user_function import is_own
from setsweep.sweeps.study.study import Study

MOST_BYTES = 50 * 2**20
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")  # what a folder of installed packages has


def own_files(study: Study) -> dict[str, bytes]:
    """The Python files that a study needs, by their path in a folder from which they are imported.

    Modules come with all the Python files that lie beside them, which they may import. What is installed does not come:
    a cluster must have it too.

    Raises:
        ValueError: a module that is not there, or so much Python that this can't be meant.
    """
    found: dict[str, bytes] = {}
    size = 0
    for place in sorted(_places(study)):
        for file in _python_files(place):
            size += file.stat().st_size
            if size > MOST_BYTES:
                raise ValueError(
                    f"the modules of a study must have at most {MOST_BYTES // 2**20} MiB, got more below {place}. "
                    "Give them a folder of their own."
                )
            found.setdefault(file.relative_to(place).as_posix(), file.read_bytes())
    return found


def _places(study: Study) -> set[Path]:
    """The folders in which the user's modules lie that a study names."""
    names = [study.data["name"], study.model["name"], *(arm.loss for arm in study.arms.values()), *study.metrics]
    found = (_place(name, study) for name in names)
    return {place for place in found if place is not None}


def _place(name: object, study: Study) -> Path | None:
    """The folder in which the module of a user's function lies, or its package; None: it is installed, or none."""
    if not is_own(name):
        return None
    package = str(name).partition(":")[0].partition(".")[0]
    for folder in (Path(study.path).parent, Path()):
        if (folder / f"{package}.py").exists() or (folder / package).is_dir():
            return folder.resolve()
    if importlib.util.find_spec(package) is None:
        raise ValueError(f"{study.path}: {name} must be a function of a module, got none called {package!r}.")
    return None


def _python_files(folder: Path) -> Iterator[Path]:
    """Those of a folder and the folders in it, but for hidden ones and virtual environments."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if not path.name.startswith(".") and not any((path / mark).exists() for mark in ENVIRONMENTS):
                yield from _python_files(path)
        elif path.suffix == ".py":
            yield path
