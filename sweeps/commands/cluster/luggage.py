"""What goes with a study to a cluster: its file, and the user's own modules that it names."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps.study.study import Study
from setsweep.sweeps.sweep.own_files import own_files
from setsweep.sweeps.sweep.preflight import check_functions


def pack(study: Study, folder: Path) -> str:
    """Put what a study needs into a folder: the study with its overrides, and modules where it names some.

    Returns:
        The name of the study file in the folder.

    Raises:
        ValueError: a function that it may not name; or see `own_files`.
    """
    check_functions(study)
    name = f"{study.name}.yaml"
    (folder / name).write_text(study.text, encoding="utf-8")
    for file, content in own_files(study).items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
    return name
