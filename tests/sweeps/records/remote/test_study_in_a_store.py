"""A study whose storage is an object store: run, stopped, taken up on another machine, and asked about from there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps import report, rescore
from setsweep.trainables.places import StoredPath

STUDY = """\
study: stored
data: {name: digits}
model: {name: mlp, hidden: 16}
training: {epochs: 2, batch_size: 256}
k: [2]
arms: {cross_entropy: {}, focal: {}}
confirm: {seeds: 2}
keep: {scores: confirm}
compare: {baseline: cross_entropy}
"""


def test_a_study_in_an_object_store_gives_the_table_of_one_in_a_folder(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setsweep: Any
) -> None:
    (tmp_path / "stored.yaml").write_text(STUDY)
    storage, place = f"{bucket}/team", StoredPath(bucket) / "team" / "stored"
    words = ["run", str(tmp_path / "stored.yaml"), "--in-process", "--tracking-uri", f"sqlite:///{tmp_path}/mlflow.db"]
    assert setsweep(*words, "--storage", str(tmp_path / "folder")).code == 0
    assert setsweep(*words, "--storage", storage, "--max-runs", "3").code == 0

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    assert setsweep("status", "stored", "--storage", storage).code == 0
    assert setsweep(*words, "--storage", storage).code == 0
    stored = {name.partition("/")[0] for name in place.below()}
    assert stored >= {"journal", "models", "scores", "report", "study.yaml", "logs"}
    assert not stored & {"checkpoints", "writer.json", ".brought.json"}

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a third"))
    ours = setsweep("report", "stored", "--storage", storage, "--format", "json")
    theirs = setsweep("report", "stored", "--storage", str(tmp_path / "folder"), "--format", "json")
    assert json.loads(ours.out)["aggregates"] == json.loads(theirs.out)["aggregates"]
    assert report(storage, "stored").best_model("focal") is not None
    assert len(rescore(storage, "stored").aggregates) > 0
