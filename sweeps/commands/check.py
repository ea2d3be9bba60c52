"""``setsweep check``: whether a study can be run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps import DEFAULT_STORAGE, read_study
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import AnyStudy
from setsweep.sweeps.commands.told import Quiet
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.records.study_folder import check_same_study, study_folder
from setsweep.sweeps.study.parts import Resources


def command(
    study: AnyStudy,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    storage: str = DEFAULT_STORAGE,
    quiet: Quiet = False,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
) -> int:
    """Tell all that is wrong with a study: its fields, its data, whether its parts fit; nothing is run or written.

    Args:
        study: a study file, or the name of a bundled study.
        overrides: change a field of the study for this time, e.g. --set training.epochs=3; may be given several times.
        storage: folder or URL where its results would be kept: what is there may be another study.
        quiet: print errors alone.
        allow: a package whose functions the study may name besides those of its own folder; may be given several times.
    """
    allow_packages(allow or ())
    read = read_study(study, overrides or ())
    check_same_study(read, study_folder(storage, read.name))
    from setsweep.sweeps.execution.datasets import DatasetCache  # torch: mistakes in the fields are told without it
    from setsweep.sweeps.sweep.preflight import check_runs

    planner = Planner(read)
    check_runs(read, planner, DatasetCache(), here=False)
    if quiet:
        return DONE
    for note in (*read.notes, *_room(read.resources)):
        print(f"Note: {note}")
    arms = f"{len(read.arms)} arms" if len(read.arms) > 1 else "1 arm"
    points = f" at {len(read.points())} grid points" if read.grid else ""
    print(f"{read.name}: nothing is wrong. {planner.total} run{'' if planner.total == 1 else 's'} of {arms}{points}.")
    return DONE


def _room(resources: Resources) -> list[str]:
    """A note where this machine has no room for a run; a cluster may have some."""
    from setsweep.sweeps.commands.plan import slots_here

    try:
        slots_here(resources)
    except ValueError as error:
        return [f"{str(error).partition(' For a cluster')[0]} A cluster may have the room."]
    return []
