"""The stack of docker/ without Docker: its files, and machines to run them on.

A machine here is what a container is: namespaces of its own for network, processes and mounts, and a view of this
machine's files in which what it writes stays its own. So the command lines of compose.yaml run as they stand there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

DOCKER = Path(__file__).parents[2] / "docker"
NETWORK = "10.77.0"
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin") or "chroot"
HOLD = """
set -e
hostname "$1"
cd "$2"
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount --rbind /dev root/dev
mount --rbind /sys root/sys
mount -t proc proc root/proc
mount -t tmpfs -o size=2g tmpfs root/dev/shm
mkdir -p root/tmp/ray
mount --bind ray root/tmp/ray
cp hosts root/etc/hosts
: > root/etc/resolv.conf
for volume in volumes/*/; do
    [ -e "$volume" ] || continue
    target=root/$(cat "$volume/target")
    mkdir -p "$target"
    mount --bind "$(cat "$volume/source")" "$target"
done
while read -r each; do chmod a+rx "root/$each"; done < open
mkdir -p root/home/setsweep
chown 1000:1000 root/home/setsweep
touch ready
exec bash -c 'while :; do sleep 1000 & wait $!; done'  # which buries the dead, as a machine's first process must
"""


def read_compose(variables: Mapping[str, str]) -> dict[str, Any]:
    """compose.yaml with its variables filled in, as Docker Compose does it. Raises KeyError: one is missing."""

    def value(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        if variables.get(name):
            return variables[name]
        if kind == ":-":
            return rest
        raise KeyError(f"{name}: {rest}")

    text = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
    compose: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{(\w+)(:-|:\?)([^}]*)\}", value, text))
    return compose


@pytest.fixture(scope="session")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What make-env.sh has written."""
    file = tmp_path_factory.mktemp("secrets") / ".env"
    subprocess.run(["sh", str(DOCKER / "make-env.sh"), str(file)], check=True, capture_output=True)
    lines = (line.partition("=") for line in file.read_text().splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in lines}


@pytest.fixture(scope="session")
def make_compose() -> Callable[[Mapping[str, str]], dict[str, Any]]:
    """See `read_compose`."""
    return read_compose


@pytest.fixture
def compose(secrets: dict[str, str]) -> dict[str, Any]:
    """compose.yaml with the secrets of a new .env."""
    return read_compose(secrets)


class Machine:
    """One of several machines that see each other by name. It ends, with all its processes, at `close`.

    Args:
        name: by which others reach it.
        address: in the network.
        folder: where its files are kept.
        hosts: what /etc/hosts says.
        volumes: folders of this machine, by where they are mounted.
    """

    def __init__(self, name: str, address: str, folder: Path, hosts: str, volumes: Mapping[str, Path]) -> None:
        self.name, self.address, self.folder = name, address, folder
        self._started: list[subprocess.Popen[str]] = []
        for part in ("upper", "work", "root", "volumes", "ray"):
            (folder / part).mkdir(parents=True)
        for number, (target, source) in enumerate(volumes.items()):
            (folder / "volumes" / str(number)).mkdir()
            (folder / "volumes" / str(number) / "target").write_text(target)
            (folder / "volumes" / str(number) / "source").write_text(str(source))
        (folder / "ray").chmod(0o1777)
        (folder / "hosts").write_text(hosts)
        (folder / "open").write_text("".join(f"{each}\n" for each in _on_the_way()))
        own = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
        self._keeper = subprocess.Popen([*own, "sh", "-c", HOLD, "sh", name, str(folder)])

    def plug_in(self, switch: int) -> None:
        """Join the network of a process, when the machine is there."""
        until((self.folder / "ready").exists, f"the machine {self.name} to be there", 10)
        (self._pid,) = (child.pid for child in psutil.Process(self._keeper.pid).children())
        self._link = ["nsenter", f"--target={switch}", "--net", "ip", "link"]
        self._port = f"v{self._pid}"
        _run(*self._link, "add", self._port, "type", "veth", "peer", "name", "eth0", "netns", str(self._pid))
        _run(*self._link, "set", self._port, "master", "switch", "up")
        for words in (
            "link set lo up",
            f"addr add {self.address}/24 dev eth0",
            "link set eth0 up",
            f"route add default via {NETWORK}.254",  # nobody is there; Ray asks which way would be taken
        ):
            _run(*self._enter("--net"), "ip", *words.split())

    def start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        user: str = "1000:1000",
        place: str = "/home/setsweep",
        log: Path | None = None,
    ) -> subprocess.Popen[str]:
        """Start a program; what it says goes into the log, or can be read from the process."""
        uid, _, gid = user.partition(":")
        become = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs"]
        inside = ["sh", "-c", f'cd {shlex.quote(place)} && exec "$@"', "sh", *command]
        enter = [*self._enter("--net", "--mount", "--pid", "--uts"), CHROOT, str(self.folder / "root")]
        own = {**_environment(), **environment}
        with contextlib.nullcontext(subprocess.PIPE) if log is None else log.open("w") as said:
            process = subprocess.Popen(
                [*enter, *become, *inside], env=own, stdout=said, stderr=subprocess.STDOUT, text=True
            )
        self._started.append(process)
        return process

    def run(
        self, command: Sequence[str], environment: Mapping[str, str], *, seconds: float = 300, **options: Any
    ) -> tuple[int, str]:
        """Run a program to its end: its exit code and what it has said."""
        process = self.start(command, environment, **options)
        said, _ = process.communicate(timeout=seconds)
        return process.returncode, said

    def inside(self) -> Iterator[psutil.Process]:
        """All that runs on it, but for its first process."""
        space = Path(f"/proc/{self._pid}/ns/pid").stat().st_ino
        for process in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):  # it has just ended
                if process.pid != self._pid and Path(f"/proc/{process.pid}/ns/pid").stat().st_ino == space:
                    yield process

    def kill(self, words: str = "") -> int:
        """Signal 9 to everything, or to what has these words in its arguments; how many that were."""
        killed = 0
        for process in self.inside():
            with contextlib.suppress(psutil.Error):
                if words in " ".join(process.cmdline()):
                    process.kill()
                    killed += 1
        return killed

    def cut(self) -> None:
        """Nothing reaches it and nothing comes from it, not even a word that it is gone."""
        _run(*self._link, "set", self._port, "down")

    def mend(self) -> None:
        """The opposite of `cut`."""
        _run(*self._link, "set", self._port, "up")

    def written(self) -> Iterator[Path]:
        """The files that it has written, but for those of volumes."""
        for part in ("upper", "ray"):
            yield from (path for path in (self.folder / part).rglob("*") if path.is_file() and not path.is_symlink())

    def close(self) -> None:
        """End it."""
        self._keeper.kill()  # and with it the first process of its namespace, and with that all others
        for process in (self._keeper, *self._started):
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _enter(self, *namespaces: str) -> list[str]:
        return ["nsenter", f"--target={self._pid}", *namespaces]


Machines = Callable[..., dict[str, Machine]]


@contextlib.contextmanager
def network(folder: Path) -> Iterator[Machines]:
    """Makes machines that see each other, from their names and the volumes of each; all of them end with it."""
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("namespaces are root's")
    switch = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    until(lambda: _is_sleeping(switch.pid), "the switch to be there", 10)
    _run("nsenter", f"--target={switch.pid}", "--net", "ip", "link", "add", "switch", "type", "bridge")
    _run("nsenter", f"--target={switch.pid}", "--net", "ip", "link", "set", "switch", "up")
    made: dict[str, Machine] = {}

    def make(volumes: Mapping[str, Mapping[str, Path]]) -> dict[str, Machine]:
        addresses = {name: f"{NETWORK}.{number}" for number, name in enumerate(volumes, start=1)}
        hosts = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in addresses.items())
        for name, address in addresses.items():
            made[name] = Machine(name, address, folder / "machines" / name, hosts, volumes[name])
            made[name].plug_in(switch.pid)
        return made

    try:
        yield make
    finally:
        for machine in made.values():
            machine.close()
        switch.kill()
        switch.wait()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """See `network`."""
    with network(tmp_path) as make:
        yield make


@pytest.fixture(scope="session")
def shared_machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """See `network`; of all tests."""
    with network(tmp_path_factory.mktemp("network")) as make:
        yield make


def until(condition: Callable[[], object], what: str, seconds: float) -> None:
    """Wait for something. Raises AssertionError: it has not come in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.1)


def _is_sleeping(pid: int) -> bool:
    return psutil.Process(pid).cmdline()[:1] == ["sleep"]


def _environment() -> dict[str, str]:
    """What an image sets: where the programs are, and that nobody is told of it."""
    programs = f"{Path(sys.executable).parent}:/usr/lib/postgresql/bin:/usr/local/bin:/usr/bin:/bin"
    own = {
        "PATH": programs,
        "HOME": "/home/setsweep",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    return own | {"RAY_USAGE_STATS_ENABLED": "0", "MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONUNBUFFERED": "1"}


def _on_the_way() -> set[Path]:
    """The folders that lead to Python and to what it imports, which everybody may enter on a machine."""
    ends = [Path(sys.executable), Path(sys.executable).resolve(), *map(Path, sys.path)]
    return {folder for end in ends for folder in end.parents if folder.exists()}


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
