"""``setsweep stop``."""

from __future__ import annotations

import os
import signal
import time

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.cluster.jobs import POLL_SECONDS, ended, latest, reach
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.study_names import StoredStudy
from setsweep.sweeps.records.study_folder import study_folder
from setsweep.sweeps.records.writing import writing_process

STOPPING = "{} is stopping: what is done is kept, and so are checkpoints."


def command(study: StoredStudy, *, storage: str = DEFAULT_STORAGE, address: str | None = None) -> int:
    """Stop a study as cleanly as Ctrl-C does: one that runs on this machine, else one on a cluster.

    Args:
        study: the name of the study.
        storage: folder or URL where a study of this machine keeps its results.
        address: where the cluster takes jobs, http://HEAD:8265; default: the one that 'setsweep connect' has noted.
    """
    folder = study_folder(storage, study)
    if address is None and (process := writing_process(folder)) is not None:
        os.kill(process, signal.SIGTERM)
        print(STOPPING.format(study), flush=True)
        while writing_process(folder) == process:
            time.sleep(POLL_SECONDS)
        print(f"{study} has stopped. 'setsweep run' goes on with it.")
        return DONE
    service, _ = reach(address)
    job = latest(service, study)
    if job.over:
        print(f"{job.name} is over: {job.state}.")
        return DONE
    service.stop(job.name)
    print(STOPPING.format(job.name), flush=True)
    print(f"{job.name} is {ended(service, job.name).state}. 'setsweep resume {job.study}' goes on with it.")
    return DONE
