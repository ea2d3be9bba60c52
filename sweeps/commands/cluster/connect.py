"""``setsweep connect``."""

from __future__ import annotations

import os
import sys
from getpass import getpass
from pathlib import Path

from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.execution.cluster_file import STORAGE, Cluster, write_cluster
from setsweep.trainables.settings.rules import real


def command(
    address: str,
    *,
    token_file: Path | None = None,
    storage: str = STORAGE,
    price: float | None = None,
    currency: str = "EUR",
) -> int:
    """Note the cluster that studies are submitted to, with its token, in a file for you alone.

    The token comes from --token-file, else from RAY_AUTH_TOKEN, else it is asked for. It is never an argument, which
    everybody on the machine could read.

    Args:
        address: where the cluster takes jobs, http://HEAD:8265.
        token_file: a file with the cluster's token.
        storage: folder on the cluster, seen by all of its nodes, where results are kept.
        price: of an hour of a GPU, or of a CPU for studies without GPU; 'setsweep submit' says what a study costs.
        currency: of the price.
    """
    from setsweep.sweeps.execution.job_service import JobService

    if price is not None:
        try:
            real(above=0).check(price)
        except ValueError as error:
            raise ValueError(f"--price {error}") from None
    token = _token(token_file)
    nodes = JobService(address, token).nodes()  # refuses what is none
    path = write_cluster(Cluster(address=address, token=token, storage=storage, price=price, currency=currency))
    cpus, gpus = (sum(node.get(kind, 0) for node in nodes) for kind in ("CPU", "GPU"))
    print(f"{address}: {len(nodes)} nodes with {cpus:g} CPUs and {gpus:g} GPUs. Noted in {path}, for you alone.")
    return DONE


def _token(file: Path | None) -> str | None:
    if file is not None:
        try:
            return file.read_text(encoding="utf-8").strip() or None
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(
                f"--token-file must be a file with the cluster's token, got {str(file)!r}: {error}"
            ) from None
    if given := os.environ.get("RAY_AUTH_TOKEN"):
        return given
    return (getpass("Token of the cluster (empty: it has none): ").strip() or None) if sys.stdin.isatty() else None
