"""``setsweep import``: a study's results from a file that ``setsweep export`` has written."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.records.parcel import read_parcel
from setsweep.sweeps.records.study_folder import storage_folder


def command(file: Path, *, storage: str = DEFAULT_STORAGE) -> int:
    """Put a study that was exported into a storage, which has none of that name.

    Args:
        file: what 'setsweep export' has written.
        storage: folder or URL where results are kept.
    """
    parcel, folder = read_parcel(file, storage_folder(storage))
    where = "" if storage == DEFAULT_STORAGE else f" --storage {storage}"
    print(f"{folder}: {parcel.results} results. 'setsweep report {parcel.study}{where}' prints them.")
    return DONE
