"""``setsweep archive``: a study put aside."""

from __future__ import annotations

import sys

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.asking import agreed
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.archive import LARGE, archive, contents, unarchive
from setsweep.sweeps.records.study_folder import begun_folder


def command(
    study: StoredStudy, *, thin: bool = False, undo: bool = False, yes: bool = False, storage: str = DEFAULT_STORAGE
) -> int:
    """Put a study aside: 'setsweep status' lists it no more unless asked, and all else still finds it.

    Args:
        study: a study file, or the name of a study.
        thin: remove its models, kept scores and checkpoints, which no table needs, after asking.
        undo: list it again; as running it does.
        yes: don't ask.
        storage: folder or URL where its results are kept.
    """
    folder = begun_folder(study, storage)
    if undo:
        unarchive(folder)
        print(f"{folder.name} is listed again.")
        return DONE
    large = contents(folder, LARGE) if thin else []
    if large:
        print(f"To be removed from {folder}:", *(f"  {part.described}" for part in large), sep="\n")
        if not agreed("Remove that", yes=yes):
            print("Nothing was changed.", file=sys.stderr)
            return FAILED
    archive(folder, thin=thin)
    print(f"{folder.name} is archived: 'setsweep status --archived' lists it, 'setsweep archive --undo' takes it back.")
    return DONE
