"""The Slurm script on a real Slurm: two machines made of namespaces, one controller."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # on a machine with much else to do

SCRIPT = Path(__file__).parents[2] / "docker" / "slurm" / "setsweep.sbatch"
CONFIGURATION = """\
ClusterName=rehearsal
SlurmctldHost=node1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=cred_expire=20
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=/var/spool/setsweep/controller
SlurmdSpoolDir=/var/spool/setsweep/node
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ReturnToService=2
NodeName=node[1-2] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""
STUDY = """\
study: chain
data: {name: digits}
model: {name: mlp, hidden: 256}
training: {epochs: 60, batch_size: 16}
k: [2]
arms: {cross_entropy: {}, focal: {}}
confirm: {seeds: 6}
"""
USER = "0:0"


class Slurm:
    """A cluster of two nodes.

    Args:
        machines: node1, which is the controller too, and node2.
        shared: the folder that both see as /shared.
    """

    def __init__(self, machines: Mapping[str, Any], shared: Path) -> None:
        self.machines, self.shared = machines, shared
        for name, machine in machines.items():
            code, said = machine.run(["sh", "-c", _prepare()], {}, user=USER)
            assert code == 0, said
            if name == "node1":
                machine.start(["slurmctld", "-D"], _path(), user=USER, log=shared / "slurmctld.log")
            machine.start(["slurmd", "-D", "-N", name], _path(), user=USER, log=shared / f"{name}.log")
        self.until(lambda: self._idle() == len(machines), 30)

    def call(self, *command: str) -> str:
        """Run a program of Slurm's on the first node."""
        _, said = self.machines["node1"].run(command, _path(), user=USER, place="/shared")
        return str(said)

    def job(self, number: str) -> dict[str, str]:
        """What the controller knows of a job."""
        return dict(re.findall(r"(\w+)=(\S*)", self.call("scontrol", "show", "job", "--oneliner", number)))

    def until(self, condition: Callable[[], object], seconds: float) -> None:
        """Wait for something; where it does not come, the logs are told."""
        deadline = time.monotonic() + seconds
        while not condition():
            logs = "".join(f"{path.name}:\n{path.read_text()[-3000:]}\n" for path in self.shared.glob("*.log"))
            assert time.monotonic() < deadline, logs
            time.sleep(0.5)

    def _idle(self) -> int:
        said = self.call("sinfo", "--noheader", "--format=%T %D")
        return sum(int(line.split()[1]) for line in said.splitlines() if line.startswith("idle"))


@pytest.fixture
def slurm(machines: Any, tmp_path: Path) -> Slurm:
    if not shutil.which("slurmctld", path="/usr/sbin:/usr/bin"):
        pytest.skip("needs Slurm (Debian: slurmctld, slurmd, slurm-client, munge)")
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "slurm.conf").write_text(CONFIGURATION)
    (shared / "chain.yaml").write_text(STUDY)
    return Slurm(machines({"node1": {"/shared": shared}, "node2": {"/shared": shared}}), shared)


def test_a_job_whose_time_is_up_queues_itself_again_and_goes_on(slurm: Slurm) -> None:
    options = ["--parsable", "--nodes=2", "--cpus-per-task=2", "--time=30"]
    study = [str(SCRIPT), "chain.yaml", "--storage", "/shared/results", "--tracking-uri", "sqlite:////shared/mlflow.db"]
    number = slurm.call("sbatch", *options, *study).strip()
    journal = slurm.shared / "results" / "chain" / "journal.jsonl"
    slurm.until(lambda: journal.exists() and journal.read_text().count('"status"') >= 2, 150)
    token = slurm.shared / f".setsweep-{number}" / "token"
    assert token.stat().st_mode & 0o777 == 0o600
    secret = token.read_text()

    slurm.call("scancel", "--batch", "--signal=USR1", number)  # what --signal=B:USR1@300 does
    slurm.until(lambda: slurm.job(number).get("Restarts") == "1", 150)
    log = slurm.shared / f"setsweep-{number}.log"
    assert "4 at a time" in log.read_text()
    assert "are done and kept. The same command goes on from here." in log.read_text()
    assert not token.parent.exists()

    # Slurm starts it again when the credential of the first time has expired: after 20 s here, else after two minutes.
    slurm.until(lambda: slurm.job(number)["JobState"] in ("COMPLETED", "FAILED"), 250)
    assert slurm.job(number)["JobState"] == "COMPLETED", log.read_text()
    assert journal.read_text().count('"status":"done"') == 12  # each once
    assert secret not in log.read_text()


def _prepare() -> str:
    """A node's configuration, and the service by which nodes know each other."""
    return """
        mkdir -p /etc/slurm /var/spool/setsweep/controller /var/spool/setsweep/node /run/munge
        cp /shared/slurm.conf /etc/slurm/slurm.conf
        head -c 1024 /dev/zero | tr '\\0' k > /run/munge/key
        chmod 600 /run/munge/key
        chmod 755 /run/munge
        /usr/sbin/munged --force --key-file=/run/munge/key --log-file=/run/munge/log
    """


def _path() -> dict[str, str]:
    return {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
