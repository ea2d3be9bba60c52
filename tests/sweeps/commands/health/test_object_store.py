"""What doctor says of a storage in an object store."""

from __future__ import annotations

import pytest

from setsweep.sweeps.commands.health.storage import check_object_store
from setsweep.trainables.places import StoredPath


def test_an_object_store_is_well_where_it_refuses_a_second_writer_and_is_left_as_it_was(bucket: str) -> None:
    found = list(check_object_store(f"{bucket}/team"))
    assert [finding.state for finding in found] == ["well", "well"]
    assert "conditional writes keep a second writer out" in found[1].said
    assert StoredPath(bucket).below() == {}


def test_an_object_store_that_does_not_let_in_is_wrong(bucket: str) -> None:
    (found,) = check_object_store("s3://there-is-none/team")
    assert found.state == "wrong"
    assert "the object store has no such bucket" in found.said


def test_an_object_store_without_conditional_writes_is_wrong(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StoredPath, "create", StoredPath.write_bytes)  # as stores do that don't know If-None-Match
    assert [finding.state for finding in check_object_store(f"{bucket}/team")] == ["well", "wrong"]
