"""`modelplane validate` over documents that are fine each by itself and not together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.render.backends import selection
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


@pytest.fixture
def without_kaito(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend that the API knows and that is not rendered."""
    monkeypatch.delitem(selection.BACKENDS, "KAITO")


def _class(objects: Objects) -> None:
    objects["InferenceCluster/eks-eu"]["spec"]["nodePools"][0]["className"] = "h100-x8"


def _gateway(objects: Objects) -> None:
    objects["ModelService/qwen3-8b"]["spec"]["gatewayRef"] = {"name": "edge"}


def _cluster(objects: Objects) -> None:
    labels = {"matchLabels": {"modelplane.ai/cluster": "gke-uss"}}
    objects["ModelDeployment/qwen3-8b"]["spec"]["clusterSelector"] = labels


def _cache(objects: Objects) -> None:
    objects["LLMInference/short"] = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "LLMInference",
        "metadata": {"name": "short", "namespace": "ml-team"},
        "spec": {"model": "Qwen/Qwen3-8B", "gpu": 1, "modelCacheRef": {"name": "qwen3-8"}},
    }
    objects["ModelCache/qwen3-8b"] = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "qwen3-8b", "namespace": "ml-team"},
        "spec": {"source": {"huggingFace": {"repo": "Qwen/Qwen3-8B"}}, "size": "20Gi"},
    }


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
        pytest.param(_cache, "warning", r"spec\.modelCacheRef\.name", r"qwen3-8 is not.*mean qwen3-8b\?", id="cache"),
        pytest.param(
            _cluster, "warning", r"spec\.clusterSelector\.matchLabels", "did you mean gke-us", id="cluster-by-name"
        ),
    ],
)
@pytest.mark.usefixtures("without_kaito")
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


def test_a_workload_that_no_backend_can_run_has_one_line_for_each_at_its_field(tmp_path: Path) -> None:
    """Only the first backend, KServe's or not, was named in the text."""
    objects = quickstart()
    for name in ("gke-us", "eks-eu"):
        objects[f"InferenceCluster/{name}"]["spec"]["backends"] = ["*"]
    spec = objects["ModelDeployment/qwen3-8b"]["spec"]
    spec["model"]["uri"] = "oci://registry.example.com/model:1"
    spec["workers"]["topology"] = {"pipeline": 2, "data": 2}
    problems = validated(tmp_path, objects)
    assert {problem["message"].partition(":")[0]: problem["path"] for problem in problems} == {
        "Dynamo": "spec.model.uri",
        "KAITO": "spec.workers.topology.pipeline",
        "KServe": "spec.workers.topology.pipeline",
        "KubeRay": "spec.model.uri",
        "LLMD": "spec.model.uri",
        "Native": "spec.model.uri",
        "VLLMStack": "spec.model.uri",
    }
    assert len({problem["line"] for problem in problems}) == 2
    text = planning.run("validate", str(tmp_path / "all.yaml")).out.splitlines()
    assert len(text) == len(problems) == len(selection.BACKENDS)
    assert all(any(f": {name}: " in line for line in text) for name in selection.BACKENDS)


def test_a_rule_that_does_not_compile_is_refused_with_line_and_column_and_the_others_are_not(tmp_path: Path) -> None:
    rules = [
        {"name": "good", "backend": "LLMD", "priority": 150, "when": "true"},
        {
            "name": "bad",
            "backend": "Native",
            "priority": 200,
            "when": "spec.replicas > 1 &&\nspec.engine.type = 'vllm'",
        },
        {"name": "number", "backend": "Native", "priority": 200, "when": "1 + 1"},
    ]
    document = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "BackendRules",
        "metadata": {"name": "fleet"},
        "spec": {"rules": rules},
    }
    bad, number = validated(tmp_path, {"BackendRules/fleet": document})
    assert (bad["path"], bad["severity"]) == ("spec.rules[1].when", "error")
    assert bad["message"].startswith("rule bad: it does not compile: line 2, column 18: Syntax error")
    assert number["path"] == "spec.rules[2].when"


def test_a_file_alone_is_not_told_what_the_others_hold(tmp_path: Path) -> None:
    objects = quickstart()
    _class(objects)
    assert not validated(tmp_path, {name: one for name, one in objects.items() if one["kind"] == "InferenceCluster"})
