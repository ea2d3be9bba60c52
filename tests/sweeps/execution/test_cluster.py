"""Joining a cluster, and what fits on it. The cluster here says that it has a GPU, which nothing on it uses."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator

import pytest
import ray

from setsweep.sweeps.execution import cluster
from setsweep.sweeps.execution.cluster import ClusterError

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def with_gpu() -> Iterator[None]:
    """A cluster of two CPUs and one GPU, started by another than Setsweep."""
    ray.init(
        address="local",
        num_cpus=2,
        num_gpus=1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def nobody() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_an_address_at_which_nobody_listens_is_refused_with_what_to_do(nobody: str) -> None:
    with pytest.raises(ClusterError) as refused:
        cluster.connect(nobody)
    assert str(refused.value).startswith(f"--address must be the address of a running Ray cluster, got '{nobody}': ")
    assert str(refused.value).endswith("or start a cluster with 'ray start --head'.")


def test_without_an_address_that_of_the_environment_is_joined(nobody: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", nobody)
    with pytest.raises(ClusterError, match=f"got '{nobody}'"):
        cluster.connect(None)


def test_a_cluster_that_cannot_be_started_here_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_TMPDIR", "/proc/no/folder")
    with pytest.raises(ClusterError, match=r"^Ray could not be started on this machine.*/proc/no") as caught:
        cluster.connect(None)
    assert caught.value.__cause__ is None
    assert not ray.is_initialized()


@pytest.mark.usefixtures("with_gpu")
def test_a_cluster_that_this_process_is_connected_to_is_used_and_left_running(nobody: str) -> None:
    with cluster.joined(nobody):
        assert ray.is_initialized()
    assert ray.is_initialized()


@pytest.mark.usefixtures("with_gpu")
def test_as_many_runs_train_at_once_as_there_is_room_for() -> None:
    needs = [(1, 0), (1, 0.5), (1, 0.4), (0.5, 0.25), (1, 1), (3, 0), (1, 2)]
    assert [cluster.slots(cpus=cpus, gpus=gpus) for cpus, gpus in needs] == [2, 2, 2, 4, 1, 0, 0]


@pytest.mark.usefixtures("with_gpu")
def test_a_run_that_this_machine_has_no_room_for_is_told() -> None:
    cluster.check_room(cpus=2, gpus=1)
    with pytest.raises(ClusterError) as refused:
        cluster.check_room(cpus=1, gpus=1.5)
    assert str(refused.value) == (
        "resources must fit on this machine, with 2 CPUs and 1 GPUs, got 1 CPUs and 1.5 GPUs a run."
    )


@pytest.mark.usefixtures("with_gpu")
def test_the_share_of_a_gpu_is_measured_on_a_node_that_has_one_by_itself() -> None:
    assert cluster.has_gpus()
    assert cluster.share_of_a_gpu(lambda: 4 if os.environ["CUDA_VISIBLE_DEVICES"] == "0" else 1) == 0.25


@pytest.mark.usefixtures("with_gpu")
def test_a_measurement_that_fails_ends_the_sweep_with_its_reason() -> None:
    def fail() -> int:
        raise RuntimeError("the driver is too old")

    with pytest.raises(ClusterError, match=r"^resources.gpus must be a number where .* got auto: .*driver is too old"):
        cluster.share_of_a_gpu(fail)
