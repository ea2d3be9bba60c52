"""The token by which the processes of a cluster on this machine know each other: a file for its owner alone.

Ray makes it where it is missing, but lets everybody on the machine read it, and whoever has it runs programs as its
owner.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def guard_token() -> None:
    """Make Ray's token file where one is needed and missing, and take it from the eyes of others."""
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_MODE", "token").lower() != "token":
        return
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    with contextlib.suppress(OSError):  # a home that can't be written is Ray's to tell
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_hex(32))
        except FileExistsError:
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
