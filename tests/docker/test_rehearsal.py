"""compose.yaml's services as real processes on machines of their own, from its command lines as they stand there."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
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
ASK = """
import base64, json, os, sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], headers=json.loads(sys.argv[2]))
if password := os.environ.get("PASSWORD"):
    request.add_header("Authorization", "Basic " + base64.b64encode(f"admin:{password}".encode()).decode())
try:
    print(200, urllib.request.urlopen(request, timeout=10).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode()[:200])
"""
JOIN = "import ray; ray.init('head:6379', log_to_driver=False); print(len(ray.nodes()), 'nodes')"
RUNS = "http://mlflow:5000/api/2.0/mlflow/experiments/get-by-name?experiment_name=rehearsal"


class Stack:
    """The services that run, each on a machine named like it; workers are numbered.

    Args:
        compose: compose.yaml.
        machines: by name.
        logs: where what the services say is kept.
    """

    def __init__(self, compose: dict[str, Any], machines: Mapping[str, Any], logs: Path) -> None:
        self.services, self.machines, self.logs = compose["services"], machines, logs
        logs.mkdir()

    def start(self, name: str) -> None:
        """Start a service and wait until it is healthy, as Docker would tell."""
        service = self.services[name.rstrip("12")]
        log, user = self.logs / name, service["user"]
        self.machines[name].start(service["command"], plain(service["environment"]), user=user, log=log)
        self.wait_for(name)

    def start_database(self) -> None:
        """What the image of PostgreSQL does at its first start, then its server."""
        service, machine = self.services["database"], self.machines["database"]
        given, place = service["environment"], "/var/lib/postgresql/data"
        owner = Path("/var/lib/postgresql").stat()
        user = f"{owner.st_uid}:{owner.st_gid}"
        machine.run(["chown", user, place, "/var/run/postgresql"], {}, user="0:0")
        first = f"""
            initdb --pgdata={place} --username={given["POSTGRES_USER"]} --pwfile=/dev/stdin \
                {given["POSTGRES_INITDB_ARGS"]} <<<"$POSTGRES_PASSWORD" &&
            echo "host all all all scram-sha-256" >> {place}/pg_hba.conf &&
            echo "create database {given["POSTGRES_DB"]}" | postgres --single -D {place}
        """
        code, said = machine.run(["bash", "-c", first], plain(given), user=user, place="/tmp")
        assert code == 0, said
        server = ["postgres", "-D", place, "-c", "listen_addresses=*"]
        machine.start(server, {}, user=user, place="/tmp", log=self.logs / "database")
        self.wait_for("database")

    def wait_for(self, name: str) -> None:
        """Wait until a service's own health check says that it is well."""
        kind, *test = self.services[name.rstrip("12")]["healthcheck"]["test"]
        assert kind == "CMD"
        deadline = time.monotonic() + 120
        while self.machines[name].run(test, {})[0] != 0:
            assert time.monotonic() < deadline, (self.logs / name).read_text()[-4000:]
            time.sleep(0.5)

    def ask(self, url: str, password: str = "", **headers: str) -> tuple[int, str]:
        """The status and the body of an answer to the laptop."""
        question = ["python", "-c", ASK, url, json.dumps(headers)]
        _, said = self.machines["laptop"].run(question, {"PASSWORD": password})
        code, _, body = said.partition(" ")
        return int(code), body

    def sweep(self, token: str) -> str:
        """Submit the study from the laptop, and give what it has said until its end."""
        command = ["setsweep", "submit", "rehearsal.yaml", "--address", "http://head:8265", "--yes", "--wait"]
        code, said = self.machines["laptop"].run(command, {"RAY_AUTH_TOKEN": token}, place="/mine")
        assert code == 0, said
        return str(said)


@pytest.fixture
def stack(compose: dict[str, Any], machines: Any, tmp_path: Path) -> Stack:
    """Everything that WORKERS=2 docker compose up starts, and a laptop beside it."""
    volumes: dict[str, Path] = {}
    for name in compose["volumes"]:
        volumes[name] = tmp_path / "volumes" / name
        volumes[name].mkdir(parents=True)
        os.chown(volumes[name], 1000, 1000)
    mounted = {
        name: {target: volumes[volume] for volume, _, target in (each.partition(":") for each in service["volumes"])}
        for name in ("database", "mlflow", "head", "worker1", "worker2")
        for service in [compose["services"][name.rstrip("12")]]
    }
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "rehearsal.yaml").write_text(STUDY)
    stack = Stack(compose, machines({**mounted, "laptop": {"/mine": mine}}), tmp_path / "logs")
    stack.start_database()
    for name in ("mlflow", "head", "worker1", "worker2"):
        stack.start(name)
    return stack


def test_the_stack_trains_a_study_and_keeps_strangers_out(stack: Stack, secrets: dict[str, str]) -> None:
    said = stack.sweep(secrets["RAY_AUTH_TOKEN"])
    assert "4 of 4 runs to train, 4 at a time" in said  # on two workers with two CPUs each
    for _ in range(5):  # records may be late on a machine with much else to do; then the same command brings them
        again = stack.sweep(secrets["RAY_AUTH_TOKEN"])
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
        for arguments in machine.processes():
            assert not any(secret in word for secret in secrets.values() for word in arguments), (name, arguments[0])
        for file in machine.written():
            content = file.read_bytes()
            assert not any(secret.encode() in content for secret in secrets.values()), file
    logs = "".join(log.read_text() for log in stack.logs.iterdir())
    assert not any(secret in logs + said for secret in secrets.values())


def plain(environment: Mapping[str, Any]) -> dict[str, str]:
    """An environment of text."""
    return {name: str(value) for name, value in environment.items()}
