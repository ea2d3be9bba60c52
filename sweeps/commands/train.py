"""``setsweep train``: one run, from a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps.commands.exit_codes import DONE, FAILED
from setsweep.sweeps.commands.told import Quiet
from setsweep.trainables.train_file import show_epoch, show_result, train_file


def command(
    config: Path,
    *,
    root: str | None = None,
    checkpoint: Path | None = None,
    quiet: Quiet = False,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
) -> int:
    """Train one run and print its result as JSON; no cluster, nothing recorded.

    Args:
        config: a YAML file with data, model, loss, training, k and seed, as failed runs leave in a study's folder.
        root: where the data files lie; default: SETSWEEP_DATA, else ~/.cache/setsweep.
        checkpoint: file to checkpoint to, and to resume from if it is there.
        quiet: print the result alone.
        allow: a package whose functions the file may name besides those of its own folder; may be given several times.
    """
    allow_packages(allow or ())
    result = train_file(config, root=root, checkpoint=checkpoint, on_epoch=None if quiet else show_epoch)
    show_result(result)
    return DONE if result.status == "done" else FAILED
