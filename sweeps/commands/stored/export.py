"""``setsweep export``: a study's results as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.archive import size_text
from setsweep.sweeps.records.parcel import ENDING, FOLDERS, SMALL_FOLDERS, write_parcel
from setsweep.sweeps.records.study_folder import begun_folder


def command(
    study: StoredStudy,
    *,
    out: Path | None = None,
    no_models: Annotated[bool, Parameter(negative=())] = False,
    storage: str = DEFAULT_STORAGE,
) -> int:
    """Write the results of a study into one file, which 'setsweep import' takes.

    Args:
        study: a study file, or the name of a study.
        out: the file; default: STUDY.setsweep.zip.
        no_models: leave out models and kept scores, which take the most room.
        storage: folder or URL where its results are kept.
    """
    folder = begun_folder(study, storage)
    to = out or Path(f"{folder.name}{ENDING}")
    parcel = write_parcel(folder, to, folders=SMALL_FOLDERS if no_models else FOLDERS)
    print(f"{to}: {parcel.results} results of {parcel.study}, {size_text(to.stat().st_size)}.")
    return DONE
