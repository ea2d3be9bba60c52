"""``setsweep backup``: all studies of a storage as one file."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.records.archive import size_text
from setsweep.sweeps.records.backup import write_backup
from setsweep.sweeps.records.study_folder import storage_folder


def command(file: Path, *, storage: str = DEFAULT_STORAGE) -> int:
    """Write all studies, with models and kept scores, into one file, which 'setsweep restore' takes.

    Args:
        file: a new file.
        storage: folder or URL where results are kept.
    """
    parcels = write_backup(storage_folder(storage), file)
    results = sum(parcel.results for parcel in parcels)
    print(f"{file}: {len(parcels)} studies with {results} results, {size_text(file.stat().st_size)}.")
    return DONE
