"""The files of a submitted study as text, kept with its job, so that any machine can start it again."""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import Path

MOST_BYTES = 2**18  # of text; the cluster's head holds it in memory as long as it lives


def to_text(folder: Path) -> str | None:
    """All files of a folder; None: they are too large to be kept."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.writestr(path.relative_to(folder).as_posix(), path.read_bytes())
    text = base64.b64encode(packed.getvalue()).decode("ascii")
    return text if len(text) <= MOST_BYTES else None


def from_text(text: str, folder: Path) -> None:
    """Put the files where they can be read again. Raises ValueError: it is no text that `to_text` has given."""
    try:
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(text, validate=True))) as archive:
            archive.extractall(folder)  # which lets no name lead out of the folder
    except (ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"the files of a job must be readable, got: {error}.") from None
