"""A run from a file, and how one is shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from setsweep.data.trust import check_trusted
from setsweep.data.user_function import is_own
from setsweep.trainables.config.complete import complete_config
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.loop import EpochReport, train
from setsweep.trainables.memory import keep_freed_memory
from setsweep.trainables.settings.yaml_text import as_written, read_yaml


def train_file(
    path: Path, *, root: str | None = None, checkpoint: Path | None = None, on_epoch: EpochReport | None = None
) -> RunResult:
    """Train the run that a file holds.

    Args:
        path: YAML with data, model, loss, training, k and seed; see `complete_config`.
        root, checkpoint, on_epoch: see `trainables.loop.train`.

    Raises:
        ValueError: what is wrong with the file or with what is in it, after the file's name.
    """
    keep_freed_memory()
    try:
        config = complete_config(_mapping(read_yaml(path.read_text(encoding="utf-8"))[0]))
        for section, settings in (("data", config.data), ("model", config.model), ("loss", config.loss)):
            if is_own(settings["name"]):
                check_trusted(settings["name"], section, [path.parent])
        for name in config.metrics:
            check_trusted(name, "metrics", [path.parent])
        return train(config, root=root, checkpoint=checkpoint, on_epoch=on_epoch)
    except OSError as error:
        raise ValueError(f"{path}: must be a file that can be read, got: {error.strerror}.") from None
    except ValueError as error:
        raise ValueError("\n".join(f"{path}: {as_written(line)}" for line in str(error).splitlines())) from error


def _mapping(plain: object) -> dict[str, object]:
    if not isinstance(plain, dict):
        raise ValueError(f"a configuration must be a mapping, got {plain!r}.")  # noqa: TRY004 - bad input, not a bug
    if "study" in plain and "arms" in plain:
        raise ValueError("must be the configuration of one run, got a study, which 'setsweep run' takes.")
    return plain


def show_epoch(epoch: int, metrics: Mapping[str, float]) -> None:
    """A line on stderr."""
    print(f"epoch {epoch}: {'  '.join(f'{name} {value:.4g}' for name, value in metrics.items())}", file=sys.stderr)


def show_result(result: RunResult) -> None:
    """The result on stdout."""
    print(json.dumps(result.to_dict(), indent=2))
