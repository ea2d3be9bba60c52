"""A chosen model comes back from MLflow as one that returns sets."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import mlflow
import numpy as np
import pytest
import torch
from mlflow import MlflowClient

from setsweep.sweeps.records.mlflow_recorder import MlflowRecorder
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.config.sections import check_model
from setsweep.trainables.conformal.how import Conformal
from setsweep.trainables.models.classifier import build_model

CLASSES, SHAPE = 4, (1, 8, 8)
THRESHOLDS = {"1": 0.4, "2": 0.2}
CONFORMAL = {"lac80": 0.7, "lac90": 0.8, "pas80": -0.2, "pas90": 0.3}


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, torch.nn.Module]:
    """A folder as training saves it, and the model in it."""
    config = RunConfig(
        data={"name": "digits"},
        model=check_model({"name": "linear"}),
        loss={"name": "cross_entropy"},
        training=Training(),
        k=(1, 2),
        seed=3,
        coverage=(0.8, 0.9),
        conformal=Conformal(scores=("lac", "pas")),
    )
    model = build_model(config.model, head="linear", input_shape=SHAPE, num_classes=CLASSES, seed=3)
    state = {
        "config": config.to_dict(),
        "state": model.state_dict(),
        "thresholds": THRESHOLDS,
        "conformal": {
            name: torch.full((CLASSES,), threshold, dtype=torch.float64) for name, threshold in CONFORMAL.items()
        },
        "train_class_counts": torch.tensor([10, 20, 30, 40]),
        "probabilities": "softmax",
        "num_classes": CLASSES,
        "input_shape": list(SHAPE),
        "mean": (0.5,),
        "std": (0.25,),
        "class_names": ["cat", "cow", "dog", "hen"],
    }
    folder = tmp_path / "model"
    folder.mkdir()
    torch.save(state, folder / "model.pt")
    return folder, model


@pytest.fixture
def images() -> np.ndarray[Any, Any]:
    """Uint8 images, as the data set gives them."""
    return np.random.default_rng(0).integers(0, 256, (50, *SHAPE), dtype=np.uint8)


@pytest.fixture
def logged(folder: Path, study: Study, make_pair: Callable[..., Any], saved: tuple[Path, Any]) -> str:
    """The URI of the model after it was recorded, twice."""
    planned, result = make_pair("cross_entropy", 0.2, 10)
    for _ in range(2):
        recorder = MlflowRecorder(study)
        recorder.start()
        recorder.record(planned, result)
        recorder.group([(planned, result)])
        recorder.finish("tables", models=[(planned, saved[0])])
        assert recorder.close(), recorder.problem
    client = MlflowClient()
    experiment = client.get_experiment_by_name(study.name)
    assert experiment is not None
    (model,) = client.search_logged_models([experiment.experiment_id])
    assert (model.name, model.status) == ("cross_entropy label_noise=0_2", "READY")
    for run in client.search_runs([experiment.experiment_id], "tags.level != 'study'"):
        assert run.outputs is not None
        assert [output.model_id for output in run.outputs.model_outputs] == [model.model_id]
    return str(model.model_uri)


def test_a_logged_model_returns_the_classes_that_reach_the_threshold(
    logged: str, saved: tuple[Path, torch.nn.Module], images: np.ndarray[Any, Any]
) -> None:
    inputs = (torch.from_numpy(images) / 255 - 0.5) / 0.25
    probabilities = saved[1](inputs).softmax(dim=1).detach().numpy()

    model = mlflow.pyfunc.load_model(logged)

    for k, threshold in THRESHOLDS.items():
        sets = model.predict(images, params={"k": int(k)})
        clear = np.abs(probabilities - threshold) > 1e-5  # rounding decides nothing
        assert sets.dtype == bool
        assert sets.shape == (50, CLASSES)
        assert (sets == (probabilities >= threshold))[clear].all()
    assert (model.predict(images) == model.predict(images, params={"k": 1})).all()


def test_a_logged_model_returns_conformal_sets_when_asked(logged: str, images: np.ndarray[Any, Any]) -> None:
    model = mlflow.pyfunc.load_model(logged)
    probabilities = model.predict(images, params={"probabilities": True})
    scores = {"lac": 1 - probabilities, "pas": 1 - probabilities / [0.1, 0.2, 0.3, 0.4]}
    for name, threshold in CONFORMAL.items():
        asked = {"sets": "conformal", "score": name[:3], "coverage": int(name[3:]) / 100}
        clear = np.abs(scores[name[:3]] - threshold) > 1e-5  # rounding decides nothing
        assert (model.predict(images, params=asked) == (scores[name[:3]] <= threshold))[clear].all()
    first = model.predict(images, params={"sets": "conformal"})
    assert (first == model.predict(images, params={"sets": "conformal", "coverage": 0.8, "score": "lac"})).all()


def test_a_logged_model_returns_names_when_asked(logged: str, images: np.ndarray[Any, Any]) -> None:
    model = mlflow.pyfunc.load_model(logged)
    masks = model.predict(images, params={"k": 2})
    names = model.predict(images, params={"k": 2, "names": True})
    assert names[0] == [name for name, inside in zip(("cat", "cow", "dog", "hen"), masks[0], strict=True) if inside]
    assert len(names) == 50


@pytest.mark.parametrize("k", [1, 2])
def test_the_top_rule_gives_the_k_most_probable_classes(
    logged: str, saved: tuple[Path, torch.nn.Module], images: np.ndarray[Any, Any], k: int
) -> None:
    model = mlflow.pyfunc.load_model(logged)
    probabilities = model.predict(images, params={"probabilities": True})
    sets = model.predict(images, params={"k": k, "sets": "top"})
    assert probabilities.shape == (50, CLASSES)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(50), abs=1e-5)
    assert (sets.sum(axis=1) == k).all()
    assert all(set(np.flatnonzero(row)) == set(np.argsort(-p)[:k]) for row, p in zip(sets, probabilities, strict=True))


def test_no_set_is_empty_where_that_is_asked_for(logged: str, images: np.ndarray[Any, Any]) -> None:
    model = mlflow.pyfunc.load_model(logged)
    sets = model.predict(images, params={"k": 1})  # with a threshold of 0.4 some of 50 have no class
    whole = model.predict(images, params={"k": 1, "nonempty": True})
    assert (sets.sum(axis=1) == 0).any()
    assert (whole.sum(axis=1) >= 1).all()
    assert (whole[sets.any(axis=1)] == sets[sets.any(axis=1)]).all()


def test_an_unknown_rule_is_refused(logged: str, images: np.ndarray[Any, Any]) -> None:
    model = mlflow.pyfunc.load_model(logged)
    with pytest.raises(ValueError, match=r"sets must be one of top, avg, conformal, got 'most'\."):
        model.predict(images, params={"sets": "most"})


def test_a_model_has_the_intervals_of_its_configuration_and_a_line_of_use(logged: str) -> None:
    model = MlflowClient().get_logged_model(logged.rpartition("/")[2])
    shown = {metric.key: metric for metric in model.metrics}
    assert set(shown) == {"test/top2_accuracy/mean"}  # of one seed there is no interval
    assert shown["test/top2_accuracy/mean"].dataset_name == "digits label_noise=0.2"
    call = f'mlflow.pyfunc.load_model("{logged}").predict(images, params={{"k": 1}})'
    assert model.tags["usage"] == f"{call}  # (batch, classes) bool"


def test_the_requirements_are_of_true_packages_and_setsweep_is_none_of_them(logged: str) -> None:
    folder = Path(mlflow.artifacts.download_artifacts(logged))
    needed = dict(line.split("==") for line in (folder / "requirements.txt").read_text().split())
    assert {"torch", "numpy", "mlflow", "PyYAML"} <= set(needed)
    assert not [name for name in needed if "setsweep" in name.lower()]
    assert not [version for version in needed.values() if "+" in version]  # a registry has no +cpu


def test_a_model_has_few_files(logged: str) -> None:
    folder = Path(mlflow.artifacts.download_artifacts(logged))
    assert {path.name for path in (folder / "code").iterdir() if path.suffix != ".pyc"} - {"__pycache__"} == {
        "setsweep.zip",
        "setsweep_model.py",
    }
    assert len([path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]) <= 12


def test_a_model_that_can_not_be_built_leaves_nothing_behind(
    folder: Path, study: Study, make_pair: Callable[..., Any], tmp_path: Path
) -> None:
    planned, result = make_pair("cross_entropy", 0.2, 10)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.pt").write_bytes(b"no model")
    recorder = MlflowRecorder(study)
    recorder.start()
    recorder.record(planned, result)
    recorder.group([(planned, result)])
    recorder.finish("tables", models=[(planned, tmp_path / "broken")])
    assert not recorder.close()
    assert recorder.pending == 1
    assert not MlflowClient().search_logged_models(["1"])


@pytest.mark.slow
def test_a_model_is_served_where_setsweep_is_not_installed(
    logged: str, images: np.ndarray[Any, Any], tmp_path: Path
) -> None:
    folder = Path(mlflow.artifacts.download_artifacts(logged, dst_path=str(tmp_path / "artifact")))
    expected = mlflow.pyfunc.load_model(logged).predict(images, params={"k": 2})
    python = _environment_without_setsweep(tmp_path / "environment")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [python, "-m", "mlflow", "models", "serve", "--env-manager", "local", "--model-uri", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with (tmp_path / "served.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=tmp_path,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**environment, "PATH": f"{Path(python).parent}:/usr/bin:/bin", "MLFLOW_DISABLE_TELEMETRY": "true"},
        )
    try:
        answer = _asked(f"http://127.0.0.1:{port}/invocations", {"inputs": images.tolist(), "params": {"k": 2}})
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
    assert (np.array(answer["predictions"]) == expected).all()


def _environment_without_setsweep(folder: Path) -> str:
    """The program of a Python with all that is installed here but for what is installed as editable: Setsweep."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    installed = sysconfig.get_paths()["purelib"]  # added by name, so that its own .pth files count for nothing
    (packages / "installed.pth").write_text(f"{installed}\n")
    python = str(folder / "bin" / "python")
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    program = [python, "-c", "import setsweep.losses"]
    found = subprocess.run(program, check=False, env=without, cwd=folder, capture_output=True)
    assert b"ModuleNotFoundError" in found.stderr
    server = folder / "bin" / "uvicorn"  # by which MLflow serves; the one that is installed is of the other Python
    server.write_text(f"#!{python}\nfrom uvicorn.main import main\n\nmain()\n")
    server.chmod(0o755)
    return python


def _asked(address: str, question: dict[str, Any]) -> dict[str, Any]:
    """The server's answer, once there is one."""
    request = Request(address, json.dumps(question).encode(), {"Content-Type": "application/json"})
    deadline = time.monotonic() + 240
    while True:
        try:
            with urlopen(request, timeout=60) as answer:
                given: dict[str, Any] = json.loads(answer.read())
                return given
        except HTTPError as error:
            raise AssertionError(error.read().decode()) from error
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.5)


def test_a_k_without_a_threshold_is_refused(logged: str, images: np.ndarray[Any, Any]) -> None:
    model = mlflow.pyfunc.load_model(logged)
    with pytest.raises(ValueError, match=r"k must be one of \[1, 2\], got 3\."):
        model.predict(images, params={"k": 3})


def test_no_inputs_give_no_sets(logged: str) -> None:
    model = mlflow.pyfunc.load_model(logged)
    assert model.predict(np.zeros((0, *SHAPE), np.uint8)).shape == (0, CLASSES)
