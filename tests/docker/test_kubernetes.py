"""The Kubernetes manifests: by Kubernetes' own schema, KubeRay's fields by its reference, and what they promise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "docker" / "kubernetes"
VERSION = "1.34"
# The fields of ray.io/v1 that the manifests may use, by the API reference of KubeRay 1.6.
CLUSTER = {"rayVersion", "authOptions", "enableInTreeAutoscaling", "autoscalerOptions", "headGroupSpec"}
CLUSTER |= {"workerGroupSpecs", "suspend"}
AUTOSCALER = {"version", "idleTimeoutSeconds", "resources", "securityContext"}
HEAD = {"rayStartParams", "template"}
WORKER = {"groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template"}
JOB = {"suspend", "submissionMode", "entrypoint", "backoffLimit", "shutdownAfterJobFinishes", "rayClusterSpec"}
JOB |= {"ttlSecondsAfterFinished"}


def resources() -> list[Any]:
    """All of them, each named by its file and its kind."""
    return [
        pytest.param(document, id=f"{path.stem}-{document['kind']}")
        for path in sorted(FOLDER.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]


def ray_cluster(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))["spec"]
    return spec.get("rayClusterSpec", spec)


def pods(resource: dict[str, Any]) -> list[dict[str, Any]]:
    """The specifications of the pods of a resource."""
    spec = resource.get("spec", {})
    if resource["kind"] in ("Deployment", "StatefulSet"):
        return [spec["template"]["spec"]]
    if resource["kind"] in ("RayCluster", "RayJob"):
        cluster = spec.get("rayClusterSpec", spec)
        return [each["template"]["spec"] for each in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]
    return []


@pytest.mark.parametrize("resource", resources())
def test_kubernetes_takes_it(resource: dict[str, Any]) -> None:
    if resource["kind"] == "Kustomization":
        assert set(resource["resources"]) == {path.name for path in FOLDER.glob("*.yaml")} - {
            "kustomization.yaml",
            "rayjob.yaml",  # one a study
        }
    elif resource["apiVersion"] == "ray.io/v1":
        for pod in pods(resource):
            _validate({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ray"}, "spec": pod})
    else:
        _validate(resource)


def test_the_check_finds_a_misspelled_field() -> None:
    with pytest.raises(kubernetes_validate.ValidationError, match="replica"):
        _validate({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"replica": 1}})


@pytest.mark.parametrize("name", ["raycluster.yaml", "rayjob.yaml"])
def test_ray_clusters_use_fields_that_kuberay_has(name: str) -> None:
    cluster = ray_cluster(name)
    assert set(cluster) <= CLUSTER
    assert set(cluster["autoscalerOptions"]) <= AUTOSCALER
    assert set(cluster["headGroupSpec"]) == HEAD
    assert all(set(group) == WORKER for group in cluster["workerGroupSpecs"])
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())


@pytest.mark.parametrize("name", ["raycluster.yaml", "rayjob.yaml"])
def test_a_ray_cluster_has_a_token_grows_and_shrinks(name: str) -> None:
    cluster = ray_cluster(name)
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["enableInTreeAutoscaling"] is True
    cpu, gpu = cluster["workerGroupSpecs"]
    assert cpu["minReplicas"] < cpu["maxReplicas"]
    assert gpu["minReplicas"] == 0 < gpu["maxReplicas"]
    limits = gpu["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == "1"
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"  # it trains nothing


def test_ray_is_the_version_that_is_installed_in_the_images() -> None:
    tested = dict(
        line.split("==") for line in (FOLDER.parents[1] / "constraints.txt").read_text().split() if "==" in line
    )
    for name in ("raycluster.yaml", "rayjob.yaml"):
        assert ray_cluster(name)["rayVersion"] == tested["ray"]


def test_a_job_can_be_suspended_and_its_cluster_is_that_of_the_others() -> None:
    job = yaml.safe_load((FOLDER / "rayjob.yaml").read_text())["spec"]
    assert set(job) == JOB
    assert job["suspend"] is False
    assert job["shutdownAfterJobFinishes"] is True
    own = json.dumps(job["rayClusterSpec"])
    for extra in (
        {"name": "study", "configMap": {"name": "study"}},
        {"name": "study", "mountPath": "/etc/study", "readOnly": True},
    ):
        assert own.count(json.dumps(extra)) == 3  # head and workers
        own = own.replace(f", {json.dumps(extra)}", "")
    assert json.loads(own) == {key: each for key, each in ray_cluster("raycluster.yaml").items() if key != "suspend"}


@pytest.mark.parametrize("resource", resources())
def test_pods_run_without_rights_and_are_watched(resource: dict[str, Any]) -> None:
    for pod in pods(resource):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False
            assert own["capabilities"] == {"drop": ["ALL"]}
            assert {"readinessProbe", "livenessProbe"} <= set(container)
            assert {"cpu", "memory"} <= set(container["resources"]["requests"])
            assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("resource", resources())
def test_secrets_come_from_the_secret_that_the_env_file_makes(
    resource: dict[str, Any], secrets: dict[str, str]
) -> None:
    assert resource["kind"] != "Secret"
    for pod in pods(resource):
        for each in pod["containers"][0].get("env", ()):
            if any(word in each["name"] for word in ("PASSWORD", "SECRET", "TOKEN")):
                reference = each["valueFrom"]["secretKeyRef"]
                assert reference["name"] == "setsweep-env"
                assert reference["key"] in secrets


def test_the_servers_are_those_of_compose(compose: dict[str, Any]) -> None:
    """Same images, same command lines: what has been rehearsed is what runs."""
    mlflow = next(pods(each.values[0])[0] for each in resources() if each.id == "mlflow-Deployment")["containers"][0]
    service = compose["services"]["mlflow"]
    hosts = "--allowed-hosts="
    assert [each for each in mlflow["args"] if not each.startswith(hosts)] == [
        each for each in service["command"] if not each.startswith(hosts)
    ]
    assert {each["name"] for each in mlflow["env"]} == set(service["environment"])
    assert mlflow["image"] == service["image"]
    database = next(pods(each.values[0])[0] for each in resources() if each.id == "database-StatefulSet")
    assert database["containers"][0]["image"] == compose["services"]["database"]["image"]


def test_only_mlflow_may_reach_the_database() -> None:
    policy = next(each.values[0]["spec"] for each in resources() if each.id == "network-NetworkPolicy")
    assert policy["podSelector"] == {"matchLabels": {"app": "database"}}
    assert json.dumps(policy["ingress"]).count("matchLabels") == 1
    assert policy["ingress"][0]["from"] == [{"podSelector": {"matchLabels": {"app": "mlflow"}}}]


def _validate(resource: dict[str, Any]) -> None:
    kubernetes_validate.validate(resource, VERSION, strict=True)
