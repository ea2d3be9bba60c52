"""Where records come from: who ran the study, with which version, in which state of the working folder."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version

from setsweep.sweeps.study.study import Study


def run_provenance() -> dict[str, str]:
    """The tags of every run, by the names that MLflow's columns User, Source and Version have."""
    commit = _commit()
    return {
        "mlflow.source.name": "setsweep",
        "mlflow.source.type": "LOCAL",
        "mlflow.user": _user(),
        **({"mlflow.source.git.commit": commit} if commit else {}),
    }


def study_provenance(study: Study) -> dict[str, str]:
    """The further tags of a study's own run."""
    return {"version": own_version(), **({"study_file": str(study.path)} if study.path else {})}


def own_version() -> str:
    """Setsweep's version; "unknown" in a source tree that is not installed."""
    try:
        return version("setsweep")
    except PackageNotFoundError:
        return "unknown"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return "unknown"


def _commit() -> str:
    """The commit of the current folder; empty where it is in no git repository."""
    git = shutil.which("git")
    if git is None:
        return ""
    asked = subprocess.run([git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)  # noqa: S603
    return asked.stdout.strip() if asked.returncode == 0 else ""
