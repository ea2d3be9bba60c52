"""Which functions a study file may name: a file is data, and must not be able to run whatever is installed.

A function is taken from modules of the user's own, those that lie in the study's folder or in the current one, and from
packages that the user allows: by ``SETSWEEP_ALLOW=mypackage,other`` (`--allow` of the commands), or since an installed
package says so with an entry point in the group ``setsweep``. It must be defined in that package, which
`subprocess.check_call`, imported into a module of one's own, is not.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path

ALLOW = "SETSWEEP_ALLOW"
GROUP = "setsweep"

_found_trusted: set[str] = set()  # packages, by this process: a model that it has kept can be loaded again


def check_trusted(name: str, section: str, folders: Iterable[Path] = ()) -> None:
    """Whether a function may be taken from where its name says; nothing of it is imported.

    Args:
        name: ``package.module:function``.
        section: of the study, for messages.
        folders: of the study; the current one counts as well.

    Raises:
        ValueError: its module lies elsewhere.
    """
    package = name.partition(":")[0].partition(".")[0]
    if package in _allowed() | _found_trusted:
        return
    places = [Path(__file__).resolve().parent] if package == "setsweep" else _places(package)
    own = [folder.resolve() for folder in (*folders, Path())]
    if not places:
        return  # that it is nowhere is told when it is imported
    if package != "setsweep" and any(_is_own(place, own) for place in places):
        _found_trusted.add(package)
        return
    raise ValueError(
        f"{section}.name must be a function of a module in the study's folder, or of a package that --allow names, "
        f"got {name!r}: {package} is in {str(places[0])!r}."
    )


def allow(packages: Iterable[str]) -> None:
    """Allow packages in this process and in those that it starts."""
    os.environ[ALLOW] = ",".join([*filter(None, [os.environ.get(ALLOW, "")]), *packages])


def _allowed() -> set[str]:
    named = {each.strip() for each in os.environ.get(ALLOW, "").split(",")} - {""}
    return named | {each.module.partition(".")[0] for each in entry_points(group=GROUP)}


def _places(package: str) -> list[Path]:
    """Where a package lies; a built-in one in the standard library."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return [Path(sysconfig.get_path("stdlib"))]
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return [Path(place).resolve() for place in spec.submodule_search_locations]
    return [Path(spec.origin).resolve() if spec.has_location and spec.origin else Path(sysconfig.get_path("stdlib"))]


def _is_own(place: Path, own: Iterable[Path]) -> bool:
    """Whether it lies in a folder of the user's, and not with what is installed, which may lie in there as well."""
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    if any(place.is_relative_to(folder) for folder in installed):
        return False
    return any(place.is_relative_to(folder) for folder in own)
