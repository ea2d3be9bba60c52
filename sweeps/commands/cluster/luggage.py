"""What goes with a study to a cluster: its file, and the user's own modules that it names."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

from setsweep.data.user_function import is_own
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.preflight import check_functions

MOST_BYTES = 50 * 2**20
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")  # what a folder of installed packages has


def pack(study: Study, folder: Path) -> str:
    """Put what a study needs into a folder: the study with its overrides, and modules where it names some.

    Modules come with all the Python files that lie beside them, which they may import. What is installed does not come:
    the cluster must have it too.

    Returns:
        The name of the study file in the folder.

    Raises:
        ValueError: a function that it may not name, or so much Python that this can't be meant.
    """
    check_functions(study)
    name = f"{study.name}.yaml"
    (folder / name).write_text(study.text, encoding="utf-8")
    size = 0
    for place in _places(study):
        for file in _python_files(place):
            size += file.stat().st_size
            if size > MOST_BYTES:
                raise ValueError(
                    f"the modules of a study must have at most {MOST_BYTES // 2**20} MiB, got more below {place}. "
                    "Give them a folder of their own."
                )
            there = folder / file.relative_to(place)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, there)
    return name


def _places(study: Study) -> set[Path]:
    """The folders in which the user's modules lie that a study names."""
    found = (_place(settings["name"], study) for settings in (study.data, study.model))
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
