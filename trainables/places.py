"""Where what a run keeps is written: a folder, or an object store such as S3.

An object store has no folders, no renaming and no locks; what it has is enough: an object is there whole or not at all,
and can be written on condition that there is none of that name, or that it is still the one that was read.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

SCHEMES = ("s3", "s3a", "gs", "az", "abfs", "abfss")
RETRIES = {"max_retries": 6}  # after 0.1 s, 0.2 s, ...: a store that is away for some seconds costs no more than those


class StoredPath:
    """A name in an object store, used as a `pathlib.Path` is. It can be pickled, and holds no secret.

    Who may read and write is for the environment to say: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION,
    AWS_ENDPOINT_URL, or the machine's own role; of Google and Azure their variables.

    Args:
        url: ``s3://BUCKET/NAME``.

    Raises:
        OSError: (any of its methods) with one sentence of what the store has said.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def __str__(self) -> str:
        return self.url

    def __repr__(self) -> str:
        return f"StoredPath({self.url!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredPath) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __truediv__(self, name: str) -> StoredPath:
        return StoredPath(f"{self.url}/{name}")

    @property
    def name(self) -> str:
        """The last part."""
        return self.url.rpartition("/")[2]

    @property
    def parent(self) -> StoredPath:
        """All but the last part."""
        return StoredPath(self.url.rpartition("/")[0])

    def exists(self) -> bool:
        """Whether there is an object of this name."""
        return self.tag() is not None

    def tag(self) -> str | None:
        """What changes with every writing; None: there is no object of this name."""
        try:
            with self._told() as (store, key):
                return str(_obstore().head(store, key)["e_tag"])
        except FileNotFoundError:
            return None

    def read_bytes(self) -> bytes:
        """The object. Raises FileNotFoundError: there is none."""
        return self.read()[0]

    def read(self) -> tuple[bytes, str]:
        """The object and its tag. Raises FileNotFoundError: there is none."""
        with self._told() as (store, key):
            found = _obstore().get(store, key)
            return bytes(found.bytes()), str(found.meta["e_tag"])

    def write_bytes(self, content: bytes) -> str:
        """Write the object, in place of another; gives its tag."""
        with self._told() as (store, key):
            return str(_obstore().put(store, key, content)["e_tag"])

    def create(self, content: bytes) -> str:
        """Write a new object; gives its tag. Raises FileExistsError: there is one."""
        with self._told() as (store, key):
            return str(_obstore().put(store, key, content, mode="create")["e_tag"])

    def replace(self, content: bytes, tag: str) -> str:
        """Write the object in place of the one with this tag; gives the new tag.

        Raises:
            FileExistsError: it is another by now, or none.
        """
        with self._told() as (store, key):
            try:
                return str(_obstore().put(store, key, content, mode={"e_tag": tag})["e_tag"])
            except FileNotFoundError:
                raise FileExistsError(errno.EEXIST, "it was removed", self.url) from None

    def touch(self) -> None:
        """Write an empty object."""
        self.write_bytes(b"")

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove the object. Object stores don't tell whether there was one, so this asks only if it must."""
        if not missing_ok and not self.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.url)
        with self._told() as (store, key):
            _obstore().delete(store, key)

    def below(self) -> dict[str, tuple[str, int]]:
        """Tag and size of every object below this name, by the rest of its name."""
        with self._told() as (store, key):
            start = f"{key}/" if key else ""
            found = [each for page in _obstore().list(store, prefix=key or None) for each in page]
        return {
            each["path"].removeprefix(start): (str(each["e_tag"]), int(each["size"]))
            for each in found
            if each["path"].startswith(start)
        }

    def remove_below(self) -> None:
        """Remove every object below this name."""
        names = [f"{self._key}/{name}".lstrip("/") for name in self.below()]
        with self._told() as (store, _):
            for first in range(0, len(names), 1000):
                _obstore().delete(store, names[first : first + 1000])

    @property
    def _key(self) -> str:
        return urllib.parse.urlsplit(self.url).path.strip("/")

    @contextmanager
    def _told(self) -> Iterator[tuple[Any, str]]:
        """The store and the name in it; what goes wrong with them in one sentence."""
        errors = _obstore().exceptions
        try:
            yield _store(urllib.parse.urlsplit(self.url)[:2]), self._key
        except (errors.AlreadyExistsError, errors.PreconditionError):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.url) from None
        except (errors.PermissionDeniedError, errors.UnauthenticatedError):
            raise PermissionError(errno.EACCES, "the object store does not let you in", self.url) from None
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise OSError(errno.EIO, _reason(str(error)), self.url) from None
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.url) from None
        except errors.BaseError as error:
            raise OSError(errno.EIO, _reason(str(error)), self.url) from None


AnyPath = Path | StoredPath


def remove_folder(place: AnyPath) -> None:
    """Remove all that is below a name, if anything; what can't be removed stays."""
    if isinstance(place, Path):
        shutil.rmtree(place, ignore_errors=True)
        return
    try:
        place.remove_below()
    except OSError:
        return


def write_whole(content: bytes, place: AnyPath) -> None:
    """Write a file so that at any moment all of it is there, or what was there before."""
    if isinstance(place, StoredPath):
        place.write_bytes(content)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(place)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _obstore() -> Any:
    try:
        import obstore
    except ImportError:
        raise ModuleNotFoundError(
            "storage in an object store must have the package obstore, got an installation without it: "
            "pip install 'setsweep[objects]'."
        ) from None
    return obstore


@lru_cache
def _store(scheme_and_bucket: tuple[str, str]) -> Any:
    from obstore.store import from_url

    scheme, bucket = scheme_and_bucket
    plain = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://")
    options: Any = {"client_options": {"allow_http": plain}, "retry_config": RETRIES}
    return from_url(f"{scheme}://{bucket}", **options)


def _reason(said: str) -> str:
    """The store's own words, of which libraries make a page."""
    if "NoSuchBucket" in said:
        return "the object store has no such bucket"
    if "latest/api/token" in said:
        return "the object store wants a key: neither AWS_ACCESS_KEY_ID nor a role of this machine is there"
    if found := re.search(r"<Message>(.+?)</Message>", said, re.DOTALL):
        return f"the object store says: {found[1].strip()}"
    return f"the object store has not answered: {said.splitlines()[0][:300].removeprefix('Generic S3 error: ')}"
