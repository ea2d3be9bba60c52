"""The stack trains a study, keeps its records, and answers no stranger; no secret of it is to be seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # on a machine with much else to do

STUDY = """\
study: rehearsal
data: {name: digits}
model: {name: mlp, hidden: 16}
training: {epochs: 2, batch_size: 256}
k: [2]
arms: {cross_entropy: {}, focal: {}}
confirm: {seeds: 2}
compare: {baseline: cross_entropy}
"""
JOIN = "import ray; ray.init('head:6379', log_to_driver=False); print(len(ray.nodes()), 'nodes')"
RUNS = "http://mlflow:5000/api/2.0/mlflow/experiments/get-by-name?experiment_name=rehearsal"


def test_the_stack_trains_a_study_and_keeps_strangers_out(stack: Any, secrets: dict[str, str]) -> None:
    (stack.mine / "rehearsal.yaml").write_text(STUDY)
    said = stack.sweep("rehearsal.yaml")
    assert "4 of 4 runs to train, 4 at a time" in said  # on two workers with two CPUs each
    for _ in range(5):  # records may be late on a machine with much else to do; then the same command brings them
        again = stack.sweep("rehearsal.yaml")
        assert "All 4 runs of rehearsal are done." in again
        if "MLflow: http://mlflow:5000" in again:
            break
    else:
        pytest.fail(again)

    _, found = stack.ask(RUNS, secrets["MLFLOW_AUTH_ADMIN_PASSWORD"])
    assert json.loads(found)["experiment"]["artifact_location"].startswith("mlflow-artifacts:/")  # through the server
    assert stack.ask(RUNS)[0] == 401
    assert stack.ask(RUNS, "a guess")[0] == 401
    assert stack.ask(RUNS, secrets["MLFLOW_AUTH_ADMIN_PASSWORD"], Host="evil.example")[0] == 403

    assert stack.ask("http://head:8265/api/jobs/")[0] == 401
    assert stack.ask("http://head:8265/api/jobs/", Authorization="Bearer a-guess")[0] == 403
    laptop, token = stack.machines["laptop"], {"RAY_AUTH_MODE": "token"}
    assert laptop.run(["python", "-c", JOIN], token | {"RAY_AUTH_TOKEN": "a guess" * 5})[0] != 0

    for name, machine in stack.machines.items():
        for process in machine.inside():
            words = process.cmdline()
            assert not any(secret in word for secret in secrets.values() for word in words), (name, words[0])
        for file in machine.written():
            content = file.read_bytes()
            assert not any(secret.encode() in content for secret in secrets.values()), file
    logs = "".join(log.read_text() for log in stack.logs.iterdir())
    assert not any(secret in logs + said for secret in secrets.values())
