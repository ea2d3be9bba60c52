"""``setsweep restore``: all studies of a backup, and their records."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.stored.record import command as record
from setsweep.sweeps.records.backup import read_backup
from setsweep.sweeps.records.study_folder import storage_folder


def command(file: Path, *, storage: str = DEFAULT_STORAGE, tracking_uri: str | None = None) -> int:
    """Put all studies of a backup into a storage that has none of them, and into MLflow what that lacks.

    Args:
        file: what 'setsweep backup' has written.
        storage: folder or URL where results are to be kept.
        tracking_uri: MLflow server or database; default: MLflow's own (./mlflow.db).
    """
    studies = [parcel for parcel in read_backup(file, storage_folder(storage)) if parcel.results]
    codes = []
    for parcel in studies:
        print(f"{parcel.study}: {parcel.results} results.", flush=True)
        codes.append(record(parcel.study, storage=storage, tracking_uri=tracking_uri))
    return max(codes, default=0)
