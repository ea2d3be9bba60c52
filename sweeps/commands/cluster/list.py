"""``setsweep list``."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

from setsweep.sweeps.commands.cluster.jobs import reach
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.sweep.progress import duration


def command(*, address: str | None = None) -> int:
    """List the studies that were submitted to a cluster, the latest last.

    Args:
        address: where the cluster takes jobs, http://HEAD:8265; default: the one that 'setsweep connect' has noted.
    """
    service, _ = reach(address)
    table = Table(box=None)
    for heading in ("study", "state", "began (UTC)", "took", "job"):
        table.add_column(heading, justify="right" if heading == "took" else "left", no_wrap=True)
    for job in service.all():
        began = "" if job.began is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(job.began))
        took = "" if job.began is None else duration((job.ended or time.time()) - job.began)
        table.add_row(job.study, job.state, began, took, job.name)
    if table.row_count:
        Console().print(table)
    else:
        print(f"No study was submitted to {service.address}.")
    return DONE
