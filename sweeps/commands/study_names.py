"""The argument ``STUDY`` of commands, and what a shell completes it to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.completion import CompletionContext


def _runnable(context: CompletionContext) -> list[str]:
    from setsweep.sweeps.study.text.source import bundled_studies

    return [*bundled_studies(), *_stored(context)]


def _stored(context: CompletionContext) -> list[str]:
    from setsweep.sweeps import DEFAULT_STORAGE
    from setsweep.sweeps.records.study_folder import storage_folder, stored_studies

    given = context.get("storage")
    storage = given.raw if given is not None and given.raw else DEFAULT_STORAGE
    return [*(folder.name for folder in stored_studies(storage_folder(storage))), *_files(context.incomplete)]


def _files(begun: str) -> Iterator[str]:
    """Study files, and the folders in which there may be some, that the word may become."""
    folder = begun[: begun.rfind("/") + 1]
    for path in sorted(Path(folder).glob("*")):
        if path.is_dir() and not path.name.startswith("."):
            yield f"{folder}{path.name}/"
        elif path.suffix in (".yaml", ".yml"):
            yield f"{folder}{path.name}"


AnyStudy = Annotated[str, Parameter(completer=_runnable)]
StoredStudy = Annotated[str, Parameter(completer=_stored)]
