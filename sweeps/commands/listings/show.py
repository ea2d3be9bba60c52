"""``setsweep show``: a study as YAML."""

from __future__ import annotations

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import AnyStudy
from setsweep.sweeps.records.study_folder import study_folder
from setsweep.sweeps.study.text.source import open_study


def command(study: AnyStudy, *, storage: str = DEFAULT_STORAGE) -> int:
    """Print a study as YAML, to read, copy and change.

    Args:
        study: the name of a study that has been run, or of a bundled one; or a study file.
        storage: folder or URL where results are kept.
    """
    stored = study_folder(storage, study) / "study.yaml" if "/" not in study else None
    text, _ = open_study(stored if stored is not None and stored.exists() else study)
    print(text.rstrip("\n"))
    return DONE
