"""Names in an object store, held against a server that speaks S3."""

from __future__ import annotations

import pickle
from threading import Thread

import pytest
import torch

from setsweep.trainables.checkpoint import Saver, load_checkpoint, remove_checkpoint, save_checkpoint
from setsweep.trainables.places import StoredPath, remove_folder, write_whole


def test_what_is_written_is_read_and_removed(bucket: str) -> None:
    path = StoredPath(f"{bucket}/some where/ä.txt")
    assert not path.exists()
    write_whole(b"one", path)
    assert (path.read_bytes(), path.exists(), path.name, path.parent.name) == (b"one", True, "ä.txt", "some where")
    assert pickle.loads(pickle.dumps(path)) == path
    path.unlink()
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        path.read_bytes()
    with pytest.raises(FileNotFoundError):
        path.unlink()
    path.unlink(missing_ok=True)


def test_of_ten_who_make_the_same_name_one_does(bucket: str) -> None:
    path, made = StoredPath(bucket) / "once", []

    def make(content: bytes) -> None:
        try:
            path.create(content)
        except FileExistsError:
            return
        made.append(content)

    threads = [Thread(target=make, args=(bytes([number]),)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [path.read_bytes()]


def test_what_another_has_written_is_not_replaced(bucket: str) -> None:
    path = StoredPath(bucket) / "lease"
    first = path.create(b"mine")
    second = path.replace(b"mine, still", first)
    with pytest.raises(FileExistsError):
        path.replace(b"mine, again", first)
    assert path.read() == (b"mine, still", second)
    path.unlink()
    with pytest.raises(FileExistsError):
        path.replace(b"mine, again", second)


def test_what_lies_below_a_name_is_listed_and_removed_and_no_more(bucket: str) -> None:
    study = StoredPath(bucket) / "study"
    for name in ("study/a", "study/b/c", "study-two/d"):
        write_whole(name.encode(), StoredPath(bucket) / name)
    assert {name: size for name, (_, size) in study.below().items()} == {"a": 7, "b/c": 9}
    remove_folder(study)
    assert list(StoredPath(bucket).below()) == ["study-two/d"]
    remove_folder(StoredPath("s3://there-is-none/study"))  # what can't be removed stays


def test_a_checkpoint_is_kept_and_goes(bucket: str) -> None:
    path = StoredPath(bucket) / "checkpoints" / "run.pt"
    assert load_checkpoint(path, key="run") is None
    save_checkpoint({"key": "run", "weights": torch.arange(3)}, path)
    found = load_checkpoint(path, key="run")
    assert found is not None
    assert found["weights"].tolist() == [0, 1, 2]
    assert load_checkpoint(path, key="another") is None
    path.write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="must be a checkpoint"):
        assert load_checkpoint(path, key="run") is None
    remove_checkpoint(path)
    assert not path.exists()


def test_a_checkpoint_that_cannot_be_written_there_costs_no_run(bucket: str) -> None:
    saver = Saver(StoredPath("s3://there-is-none/run.pt"), 0, "run")
    with pytest.warns(UserWarning, match=r"can't be written now, the run goes on: the object store has no such bucket"):
        saver.maybe(dict)


def test_a_store_that_lets_nobody_in_or_does_not_answer_is_told_in_a_sentence(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match="the object store has no such bucket"):
        StoredPath("s3://there-is-none/a").write_bytes(b"")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(OSError, match=r"the object store has not answered: Error performing PUT http://127\.0\.0\.1:1"):
        StoredPath("s3://nobody-is-there/a").write_bytes(b"")
