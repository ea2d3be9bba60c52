"""All studies of a storage in one file: a ZIP file of parcels, see `records.parcel`."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path

from setsweep.sweeps.records.parcel import ENDING, Parcel, ParcelError, read_parcel, write_parcel
from setsweep.sweeps.records.remote.working_copy import bring_all
from setsweep.sweeps.records.study_folder import stored_studies
from setsweep.sweeps.study.reader import NAME


def write_backup(storage: Path, out: Path) -> list[Parcel]:
    """Write all studies of a storage into one file, those in the archive included; sweeps may go on meanwhile.

    Raises:
        ParcelError: there is no study, the file is there, or it can't be written. Nothing is left of it then.
    """
    folders = stored_studies(storage)
    if not folders:
        raise ParcelError(f"--storage must be a folder in which a study was run, got {str(storage)!r}.")
    if out.exists():
        raise ParcelError(f"FILE must be a new file, got {str(out)!r}, which is there.")
    parcels = []
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=out.absolute().parent) as beside:
            whole = Path(beside, "whole")
            with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as file:
                for folder in folders:
                    packed = Path(beside, f"{folder.name}{ENDING}")
                    parcels.append(write_parcel(folder, packed))
                    file.write(packed, packed.name)
                    packed.unlink()
            whole.rename(out)
    except OSError as error:
        raise ParcelError(f"FILE must be one that can be written, got {str(out)!r}: {error.strerror}.") from None
    return parcels


def read_backup(path: Path, storage: Path) -> list[Parcel]:
    """Put all studies of a backup into a storage that has none of them.

    Raises:
        ParcelError: no backup, or the storage has one of its studies: nothing was written; or a parcel in it is
            damaged: those before it are there.
    """
    rule = f"FILE must be one that 'setsweep backup' has written, got {str(path)!r}"
    try:
        with zipfile.ZipFile(path) as file, tempfile.TemporaryDirectory(prefix="setsweep-restore-") as folder:
            names = file.namelist()
            if not names or not all(map(_is_parcel, names)) or len(set(names)) < len(names):
                raise ParcelError(f"{rule}, which holds something else than studies.")
            bring_all(storage)
            if there := [name for name in names if (storage / name.removesuffix(ENDING)).exists()]:
                study = there[0].removesuffix(ENDING)
                raise ParcelError(f"study {study!r} must be new to {str(storage)!r}, got one that is there already.")
            found = []
            for name in names:
                parcel = Path(folder, "parcel")
                with file.open(name) as packed, parcel.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)
                found.append(read_parcel(parcel, storage)[0])
            return found
    except OSError as error:
        raise ParcelError(f"{rule}: {error.strerror}.") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ParcelError(f"{rule}: {error}.") from None


def _is_parcel(name: str) -> bool:
    try:
        NAME.rule.check(name.removesuffix(ENDING))
    except ValueError:
        return False
    return name.endswith(ENDING)
