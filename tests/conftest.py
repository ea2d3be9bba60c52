"""A server that speaks S3, and buckets in it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

LOOPBACK = "127.0.0.1"


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "moto.server", "-H", LOOPBACK, "-p", str(port)]
    address = f"http://{LOOPBACK}:{port}"
    with (tmp_path_factory.mktemp("s3") / "log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/moto-api/", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
        process.kill()
        process.wait()


@pytest.fixture
def bucket(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty one that the environment lets in; this machine's working copies begin anew."""
    name = f"b{abs(hash(tmp_path))}"
    urllib.request.urlopen(urllib.request.Request(f"{s3}/{name}", method="PUT"), timeout=10).close()
    found = {"AWS_ENDPOINT_URL": s3, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    for variable, value in (found | {"AWS_REGION": "us-east-1", "XDG_CACHE_HOME": str(tmp_path / "cache")}).items():
        monkeypatch.setenv(variable, value)
    return f"s3://{name}"
