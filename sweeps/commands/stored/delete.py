"""``setsweep delete``: a study out of its storage."""

from __future__ import annotations

import sys

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.asking import agreed
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.archive import contents, delete, results_of
from setsweep.sweeps.records.mlflow_address import recorded_address
from setsweep.sweeps.records.study_folder import begun_folder


def command(study: StoredStudy, *, yes: bool = False, storage: str = DEFAULT_STORAGE) -> int:
    """Remove a study with its results, after asking; what MLflow has of it stays.

    Args:
        study: a study file, or the name of a study.
        yes: don't ask.
        storage: folder or URL where its results are kept.
    """
    folder = begun_folder(study, storage)
    results, address = results_of(folder), recorded_address(folder)
    count = "a journal that can't be read" if results is None else f"{results} results"
    print(f"{folder} holds {count}:", *(f"  {part.described}" for part in contents(folder)), sep="\n")
    if not agreed(f"Remove all of it? 'setsweep export {folder.name}' would keep it", yes=yes):
        print("Nothing was removed.", file=sys.stderr)
        return FAILED
    delete(folder)
    print(f"Removed {folder}.")
    if address:
        print(f"MLflow's records stay: {address}")
    return DONE
