"""compose.yaml holds what it promises; that its services run is in rehearsal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose

DOCKER = Path(__file__).parents[2] / "docker"


def test_it_obeys_the_compose_specification(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        service["cpus"] = float(service["cpus"])  # the checker takes no whole number for a number
    PyCompose.from_yaml(yaml.safe_dump(compose)).validate()
    compose["services"]["database"]["helthcheck"] = {}
    with pytest.raises(ValueError, match="helthcheck"):
        PyCompose.from_yaml(yaml.safe_dump(compose))


def test_compose_lint_finds_nothing_of_weight() -> None:
    program = Path(sys.executable).with_name("compose-lint")
    found = subprocess.run(
        [program, "--fail-on", "high", "--format", "json", DOCKER / "compose.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout
    rules = {each["rule_id"] for each in json.loads(found.stdout)["findings"]}
    assert rules <= {"CL-0019", "CL-0007"}, "a tag instead of a digest; a Ray node, which writes where its runs like"


def test_without_secrets_nothing_starts(make_compose: Any, secrets: dict[str, str]) -> None:
    for name in secrets:
        with pytest.raises(KeyError, match=r"make-env\.sh"):
            make_compose({each: value for each, value in secrets.items() if each != name})


def test_secrets_stand_in_environments_alone(compose: dict[str, Any], secrets: dict[str, str]) -> None:
    values = set(secrets.values())
    for name, service in compose["services"].items():
        given = {str(value) for value in service.pop("environment").values()}
        assert not any(value in json.dumps(service) for value in values), f"an argument or a label of {name}"
        expected = {"database": 1, "mlflow": 3, "head": 2, "worker": 1, "gpu-worker": 1}
        assert len(given & values) == expected[name], "what it needs, and no more"


def test_the_file_holds_no_secret_of_its_own() -> None:
    text = (DOCKER / "compose.yaml").read_text()
    for name, value in re.findall(r"^ *(\w*(?:PASSWORD|TOKEN|SECRET_KEY)\w*): (.*)$", text, re.MULTILINE):
        assert value.startswith("${"), name
        assert ":?" in value, name


def test_every_service_is_watched_limited_and_without_rights(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["healthcheck"]["test"][0] == "CMD", name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["user"] in ("1000:1000", "postgres"), name
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service), name
        assert service["image"].partition(":")[2] not in ("", "latest"), name


def test_the_database_can_be_reached_by_mlflow_alone(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert "ports" not in services["database"]
    assert [name for name, each in services.items() if "records" in each["networks"]] == ["database", "mlflow"]
    assert compose["networks"]["records"] == {"internal": True}


def test_what_is_published_is_published_to_this_machine_alone(compose: dict[str, Any]) -> None:
    published = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert published == ["127.0.0.1:5000:5000", "127.0.0.1:8265:8265"]


def test_workers_come_in_profiles_and_in_any_number(make_compose: Any, secrets: dict[str, str]) -> None:
    services = make_compose({**secrets, "WORKERS": "7", "VARIANT": "cuda"})["services"]
    assert services["worker"]["scale"] == 7
    assert {name: each["profiles"] for name, each in services.items() if "profiles" in each} == {
        "worker": ["cpu"],
        "gpu-worker": ["gpu"],
    }
    devices = services["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert devices == [{"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}]
    assert services["head"]["image"] == "setsweep:cuda"


def test_all_nodes_share_the_storage(compose: dict[str, Any]) -> None:
    for name in ("head", "worker", "gpu-worker"):
        assert "studies:/studies" in compose["services"][name]["volumes"]
