"""The file that says which cluster studies are submitted to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from setsweep.sweeps.execution.cluster_file import Cluster, cluster_file, named_cluster, read_cluster, write_cluster


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    for name in ("SETSWEEP_CLUSTER", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "settings"


@pytest.mark.parametrize("token", [None, "a" * 64, "1" * 64, "12e34", "0x12", "true", "# no comment", "é"])
def test_what_is_written_is_read_again(token: str | None) -> None:
    cluster = Cluster(address="http://head:8265", token=token, storage="/shared", price=2.5, currency="USD")
    write_cluster(cluster)
    assert read_cluster() == cluster


def test_the_file_is_for_its_owner_alone_from_the_first_moment(settings: Path) -> None:
    before = os.umask(0)
    try:
        path = write_cluster(Cluster(address="http://head:8265", token="secret"))
    finally:
        os.umask(before)
    assert path == cluster_file() == settings / "setsweep" / "cluster.yaml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_others_can_read_is_refused() -> None:
    path = write_cluster(Cluster(address="http://head:8265", token="secret"))
    path.chmod(0o644)
    with pytest.raises(ValueError, match=r"must be readable for its owner alone \(0600\).*got 0644") as refused:
        read_cluster()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "[1]", "address: x\nunknown: 1\n", "{", "token: x\n"])
def test_another_file_is_refused(settings: Path, text: str) -> None:
    (settings / "setsweep").mkdir(parents=True)
    path = settings / "setsweep" / "cluster.yaml"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ValueError, match="must be a file that 'setsweep connect' has written"):
        read_cluster()


def test_a_token_goes_to_the_address_that_it_was_noted_with_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = Cluster(address="http://head:8265", token="secret")
    write_cluster(noted)
    assert named_cluster(None) == named_cluster("http://head:8265/") == noted
    assert named_cluster("http://elsewhere:8265").token is None
    monkeypatch.setenv("RAY_AUTH_TOKEN", "given")
    assert named_cluster("http://elsewhere:8265").token == "given"


def test_without_an_address_and_a_file_what_is_missing_is_said() -> None:
    with pytest.raises(ValueError, match=r"--address must be http://HEAD:8265, or 'setsweep connect' must have noted"):
        named_cluster(None)


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(Cluster(address="http://head:8265", token="secret"))
