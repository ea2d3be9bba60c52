"""The services of compose.yaml as real processes on machines of their own, from its own command lines."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ASK = """
import base64, json, os, sys, urllib.error, urllib.request
data = os.environ.get("DATA", "").encode() or None
request = urllib.request.Request(sys.argv[1], headers=json.loads(sys.argv[2]), data=data)
if password := os.environ.get("PASSWORD"):
    request.add_header("Authorization", "Basic " + base64.b64encode(f"admin:{password}".encode()).decode())
try:
    print(200, urllib.request.urlopen(request, timeout=10).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode()[:200])
"""
SERVICES = ("database", "mlflow", "head", "worker1", "worker2")
STORAGE_MIB = 64  # of the folder that all nodes share, so that it can be filled
BUSY = {"RAY_raylet_start_wait_time_s": "120"}  # on a machine with much else to do
PATIENCE = 900  # seconds for anything


class Stack:
    """The services that run, each on a machine named like it; workers are numbered.

    Args:
        compose: compose.yaml.
        secrets: what make-env.sh has written.
        machines: by name.
        volumes: by name, the folders that they share.
        folder: for the laptop's files and for what services say.
    """

    def __init__(
        self,
        compose: Mapping[str, Any],
        secrets: Mapping[str, str],
        machines: Mapping[str, Any],
        volumes: Mapping[str, Path],
        folder: Path,
    ) -> None:
        self.services, self.secrets, self.machines = compose["services"], secrets, machines
        self.volumes, self.mine, self.logs = volumes, folder / "mine", folder / "logs"
        self._running: dict[str, tuple[subprocess.Popen[str], Mapping[str, str]]] = {}

    def start(self, name: str, extra: Mapping[str, str] | None = None) -> None:
        """Start a service, with more in its environment, and wait until it is healthy, as Docker would tell."""
        self._spawn(name, extra or {})
        kind, *test = self.services[name.rstrip("12")]["healthcheck"]["test"]
        assert kind == "CMD"
        deadline = time.monotonic() + PATIENCE
        while self.machines[name].run(test, {})[0] != 0:
            assert time.monotonic() < deadline, max(self.logs.glob(f"{name}-*")).read_text()[-4000:]
            time.sleep(0.5)
            self._revive()

    def heal(self) -> None:
        """Start again what has ended, as `restart: unless-stopped` does; what is there stays."""
        for name in SERVICES:
            if self._running[name][0].poll() is not None:
                self.start(name, self._running[name][1])

    def _revive(self) -> None:
        """Start what has ended: Ray's nodes end where they can't reach each other."""
        for name, (process, extra) in list(self._running.items()):
            if process.poll() is not None:
                self._spawn(name, extra)

    def _spawn(self, name: str, extra: Mapping[str, str]) -> None:
        service, machine = self.services[name.rstrip("12")], self.machines[name]
        machine.kill()  # what an earlier one has left
        if name == "database":
            command, given, user = ["postgres", "-D", _DATA, "-c", "listen_addresses=*"], {}, self._postgres()
        else:
            command, given, user = service["command"], plain(service["environment"]), service["user"]
        words = ["env", *(f"{variable}={value}" for variable, value in {**BUSY, **extra}.items()), *command]
        log, place = self.logs / f"{name}-{time.time():.0f}", "/tmp" if name == "database" else "/home/setsweep"
        self._running[name] = machine.start(words, given, user=user, place=place, log=log), extra

    def make_database(self) -> None:
        """What the image of PostgreSQL does at its first start."""
        given, machine = self.services["database"]["environment"], self.machines["database"]
        machine.run(["chown", self._postgres(), _DATA, "/var/run/postgresql"], {}, user="0:0")
        first = f"""
            initdb --pgdata={_DATA} --username={given["POSTGRES_USER"]} --pwfile=/dev/stdin \
                {given["POSTGRES_INITDB_ARGS"]} <<<"$POSTGRES_PASSWORD" &&
            echo "host all all all scram-sha-256" >> {_DATA}/pg_hba.conf &&
            echo "create database {given["POSTGRES_DB"]}" | postgres --single -D {_DATA}
        """
        code, said = machine.run(["bash", "-c", first], plain(given), user=self._postgres(), place="/tmp")
        assert code == 0, said

    def ask(self, url: str, password: str = "", data: str = "", **headers: str) -> tuple[int, str]:
        """The status and the body of an answer to the laptop."""
        question = ["python", "-c", ASK, url, json.dumps(headers)]
        _, said = self.machines["laptop"].run(question, {"PASSWORD": password, "DATA": data})
        code, _, body = said.partition(" ")
        return int(code), body

    def call(self, *words: str) -> tuple[int, str]:
        """One of our commands on the laptop: its exit code and what it has said."""
        command = ["setsweep", *words, "--address", "http://head:8265"]
        code, said = self.machines["laptop"].run(
            command, {"RAY_AUTH_TOKEN": self.secrets["RAY_AUTH_TOKEN"]}, place="/mine", seconds=PATIENCE
        )
        return code, said

    def sweep(self, study: str) -> str:
        """Submit a study from the laptop, and give what it has said until its end."""
        code, said = self.call("submit", study, "--yes", "--wait")
        assert code == 0, said
        return str(said)

    def results(self, study: str) -> Path:
        """The folder of a study's results, as this machine sees it."""
        return self.volumes["studies"] / "results" / study

    def _postgres(self) -> str:
        owner = Path("/var/lib/postgresql").stat()
        return f"{owner.st_uid}:{owner.st_gid}"


_DATA = "/var/lib/postgresql/data"


@pytest.fixture(scope="session")
def stack(
    make_compose: Callable[[Mapping[str, str]], dict[str, Any]],
    secrets: dict[str, str],
    shared_machines: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    """Everything that WORKERS=2 docker compose up starts, and a laptop beside it."""
    compose, folder = make_compose(secrets), tmp_path_factory.mktemp("stack")
    volumes = {name: folder / "volumes" / name for name in compose["volumes"]}
    for volume in volumes.values():
        volume.mkdir(parents=True)
    _disk("mount", "-t", "tmpfs", "-o", f"size={STORAGE_MIB}m", "tmpfs", str(volumes["studies"]))
    try:
        for volume in volumes.values():
            os.chown(volume, 1000, 1000)
        for own in ("mine", "logs"):
            (folder / own).mkdir()
        mounted = {
            name: {target: volumes[each] for each, _, target in (text.partition(":") for text in service["volumes"])}
            for name in SERVICES
            for service in [compose["services"][name.rstrip("12")]]
        }
        machines = shared_machines({**mounted, "laptop": {"/mine": folder / "mine"}})
        stack = Stack(compose, secrets, machines, volumes, folder)
        stack.make_database()
        for name in SERVICES:
            stack.start(name)
        yield stack
    finally:
        _disk("umount", "--lazy", str(volumes["studies"]))


def plain(environment: Mapping[str, Any]) -> dict[str, str]:
    """An environment of text."""
    return {name: str(value) for name, value in environment.items()}


def _disk(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
