"""``setsweep doctor``: whether a study can run here, and what to mend."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from rich.console import Console

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.health.cluster import check_cluster
from setsweep.sweeps.commands.health.gpus import check_gpus
from setsweep.sweeps.commands.health.records import check_records
from setsweep.sweeps.commands.health.storage import check_object_store, check_storage
from setsweep.sweeps.commands.health.versions import check_versions
from setsweep.sweeps.records.remote.working_copy import is_stored
from setsweep.sweeps.records.study_folder import storage_folder

MARKS = {"well": "[green]ok   [/]", "note": "[yellow]note [/]", "wrong": "[red]wrong[/]"}


def command(
    *,
    storage: str = DEFAULT_STORAGE,
    tracking_uri: str | None = None,
    address: str | None = None,
    as_json: AsJson = False,
) -> int:
    """Look at versions, GPUs, storage, MLflow, Ray and clocks, and say what to mend.

    Args:
        storage: folder or URL where results are to be kept.
        tracking_uri: MLflow server or database; default: MLflow's own (./mlflow.db).
        address: where a cluster takes jobs, http://HEAD:8265; default: the one that 'setsweep connect' has noted.
        as_json: print it as JSON.
    """
    folder: Path = storage_folder(storage)
    findings = [
        *check_versions(),
        *check_gpus(),
        *(check_object_store(storage) if is_stored(storage) else check_storage(folder)),
        *check_records(tracking_uri),
        *check_cluster(address),
    ]
    if as_json:
        print(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for finding in findings:
            console.print(f"{MARKS[finding.state]} {finding.of:9}", end="")
            console.print(finding.said, markup=False)
            if finding.mend:
                console.print(f"{'':16}{finding.mend}", markup=False)
    return FAILED if any(finding.state == "wrong" for finding in findings) else DONE
