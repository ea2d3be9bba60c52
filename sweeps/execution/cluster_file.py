"""The file that says which cluster studies are submitted to: address, token, storage and price. For its owner alone."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path

from setsweep.trainables.settings.yaml_text import YamlError, dump_yaml, read_yaml

VARIABLE = "SETSWEEP_CLUSTER"
STORAGE = "/studies/results"  # that of docker/


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A cluster, as `setsweep connect` has noted it.

    Args:
        address: where it takes jobs, ``http://HEAD:8265``.
        token: what it asks for; None: nothing.
        storage: where results are kept on it; all of its nodes see that.
        price: of an hour of a GPU, or of a CPU where a study has no GPU; None: not known.
        currency: of the price.
    """

    address: str
    token: str | None = dataclasses.field(default=None, repr=False)
    storage: str = STORAGE
    price: float | None = None
    currency: str = "EUR"


def cluster_file() -> Path:
    """Where it lies: SETSWEEP_CLUSTER, else in the user's folder of settings."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    settings = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(settings) / "setsweep" / "cluster.yaml"


def write_cluster(cluster: Cluster) -> Path:
    """Keep it, for its owner alone, in place of what was there. Raises ValueError: it can't be written."""
    path = cluster_file()
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.touch(mode=0o600, exist_ok=False)
        new.write_text(dump_yaml(dataclasses.asdict(cluster)), encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise ValueError(f"{path} must be a file that can be written: {error.strerror}.") from None
    return path


def read_cluster() -> Cluster | None:
    """The cluster that is noted; None: none is.

    Raises:
        ValueError: others can read the file, or it is none that `write_cluster` has written.
    """
    path = cluster_file()
    if not path.exists():
        return None
    rule = f"{path} must be a file that 'setsweep connect' has written"
    try:
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            raise ValueError(
                f"{path} must be readable for its owner alone (0600), since it holds a token, got {mode:04o}. "
                f"'chmod 600 {path}' mends it."
            )
        plain, _ = read_yaml(path.read_text(encoding="utf-8"))
        return Cluster(**plain) if isinstance(plain, dict) else _refuse(rule)
    except (OSError, YamlError, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"{rule}, got: {error}") from None


def _refuse(rule: str) -> Cluster:
    raise ValueError(f"{rule}, got something else.")


def named_cluster(address: str | None) -> Cluster:
    """The cluster at an address, with what is noted of it; without an address the one that is noted.

    A token goes to the address that it was noted with and to no other; RAY_AUTH_TOKEN counts for any.

    Raises:
        ValueError: there is neither, or see `read_cluster`.
    """
    noted = read_cluster()
    token = os.environ.get("RAY_AUTH_TOKEN")
    if address is None:
        if noted is None:
            raise ValueError("--address must be http://HEAD:8265, or 'setsweep connect' must have noted it; got none.")
        return noted
    if noted is not None and noted.address.rstrip("/") == address.rstrip("/"):
        return noted
    return Cluster(address=address, token=token)
