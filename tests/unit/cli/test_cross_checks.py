"""`modelplane validate` over documents that are fine each by itself and not together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import planning

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Json = Any
Objects = dict[str, Json]


def quickstart() -> Objects:
    found = [
        one for path in sorted((EXAMPLES / "quickstart").glob("*.yaml")) for one in yaml.safe_load_all(path.read_text())
    ]
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in found}


def validated(tmp_path: Path, objects: Objects) -> list[Json]:
    path = planning.written(tmp_path, "all", *objects.values())
    run = planning.run("validate", path, "-o", "json")
    problems: list[Json] = run.json["problems"]
    assert run.code == (2 if any(problem["severity"] == "error" for problem in problems) else 0)
    return problems


def _cel(objects: Objects) -> None:
    objects["ModelDeployment/qwen3-8b"]["spec"]["nodeSelector"]["cel"] = 'device.driver == "a" && quantty("1") == 1'


def _flag(objects: Objects) -> None:
    spec = objects["ModelDeployment/qwen3-8b"]["spec"]
    spec["workers"]["template"]["spec"]["containers"][0]["args"].append("--tensor-parallel-size=2")


def _backend(objects: Objects) -> None:
    objects["ModelDeployment/qwen3-8b"]["spec"]["backend"] = "KAITO"


def _class(objects: Objects) -> None:
    objects["InferenceCluster/eks-eu"]["spec"]["nodePools"][0]["className"] = "h100-x8"


def _gateway(objects: Objects) -> None:
    objects["ModelService/qwen3-8b"]["spec"]["gatewayRef"] = {"name": "edge"}


def _cluster(objects: Objects) -> None:
    labels = {"matchLabels": {"modelplane.ai/cluster": "gke-uss"}}
    objects["ModelDeployment/qwen3-8b"]["spec"]["clusterSelector"] = labels


@pytest.mark.parametrize(
    ("broken", "severity", "path", "says"),
    [
        pytest.param(
            _cel,
            "error",
            "spec.nodeSelector.cel",
            "undeclared reference to 'quantty'.*did you mean quantity",
            id="selector",
        ),
        pytest.param(_flag, "error", r"spec\.workers\.template\..*args", "tensor", id="flag-against-topology"),
        pytest.param(_backend, "error", "", "KAITO", id="backend-not-offered"),
        pytest.param(
            _class, "warning", r"spec\.nodePools\[0\]\.className", r"h100-x8 is not.*did you mean h100-8x\?", id="class"
        ),
        pytest.param(_gateway, "warning", r"spec\.gatewayRef\.name", "edge is not.*on the control plane", id="gateway"),
        pytest.param(
            _cluster, "warning", r"spec\.clusterSelector\.matchLabels", "did you mean gke-us", id="cluster-by-name"
        ),
    ],
)
def test_one_line_at_the_field(
    tmp_path: Path, broken: Callable[[Objects], None], severity: str, path: str, says: str
) -> None:
    objects = quickstart()
    broken(objects)
    (problem,) = validated(tmp_path, objects)
    assert problem["severity"] == severity
    assert re.match(path, problem["path"])
    assert re.search(says, problem["message"])
    assert problem["line"] > 0


def test_every_document_is_heard(tmp_path: Path) -> None:
    objects = quickstart()
    _cel(objects)
    _class(objects)
    _gateway(objects)
    assert [problem["severity"] for problem in validated(tmp_path, objects)] == ["warning", "error", "warning"]


def test_a_file_alone_is_not_told_what_the_others_hold(tmp_path: Path) -> None:
    objects = quickstart()
    _class(objects)
    assert not validated(tmp_path, {name: one for name, one in objects.items() if one["kind"] == "InferenceCluster"})
