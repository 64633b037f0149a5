"""House rules of the definitions: what every field, rule and composition under apis/ has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubecel import rules
from modelplane import names
from modelplane.api import catalogue, kinds

Json = Any
At = tuple[str, ...]

ROOT = Path(__file__).resolve().parents[3]
COMPOSERS = ROOT / "functions" / "modelplane_functions" / "compose"
CONDITION_COLUMN = re.compile(r'\.status\.conditions\[\?\(@\.type=="(\w+)"\)\]\.reason')

SHORT_NAMES = {
    "BackendRules": ("br", "Cluster"),
    "InferenceClass": ("icl", "Cluster"),
    "InferenceCluster": ("ic", "Cluster"),
    "InferenceGateway": ("ig", "Cluster"),
    "InferenceQuota": ("iq", "Cluster"),
    "LLMInference": ("llm", "Namespaced"),
    "ModelDeployment": ("md", "Namespaced"),
    "ModelEndpoint": ("me", "Namespaced"),
    "ModelCache": ("mc", "Namespaced"),
    "CloudCluster": ("ccl", "Cluster"),
    "CloudNetwork": ("cnet", "Cluster"),
    "CloudNodePool": ("cnp", "Cluster"),
    "ModelCacheCopy": ("mcc", "Namespaced"),
    "ServingStack": ("ss", "Cluster"),
    "ModelReplica": ("mr", "Namespaced"),
    "ModelService": ("ms", "Namespaced"),
}

# Crossplane drops everything else at the top of spec and status, silently.
_KEPT_AT_SPEC = {"type", "description", "required", "properties", "x-kubernetes-validations"}


def schema_of(kind: str) -> Json:
    return catalogue.definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def nodes(kind: str) -> Iterator[tuple[At, Json]]:
    yield from _nodes(schema_of(kind), ())


def _nodes(schema: Json, at: At) -> Iterator[tuple[At, Json]]:
    yield at, schema
    for name, below in schema.get("properties", {}).items():
        yield from _nodes(below, (*at, name))
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(key), dict):
            yield from _nodes(schema[key], (*at, mark))


def spec_nodes(kind: str) -> list[tuple[At, Json]]:
    return [(at, node) for at, node in nodes(kind) if at[:1] == ("spec",)]


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_names_and_scope(kind: str) -> None:
    definition = catalogue.definition(kind)
    spec = definition["spec"]
    short, scope = SHORT_NAMES[kind]
    assert definition["apiVersion"] == "apiextensions.crossplane.io/v2"
    assert definition["metadata"]["name"] == f"{spec['names']['plural']}.{names.GROUP}"
    assert (spec["group"], spec["scope"]) == (names.GROUP, scope)
    assert spec["names"]["shortNames"] == [short]
    assert spec["names"]["categories"] == ["modelplane"]
    (version,) = spec["versions"]
    assert (version["name"], version["served"], version["referenceable"]) == ("v1alpha1", True, True)


def test_all_kinds_are_here() -> None:
    assert set(catalogue.kinds()) == set(SHORT_NAMES)
    assert {path.parent.name for path in (ROOT / "apis").glob("*/definition.yaml")} == {
        catalogue.definition(kind)["spec"]["names"]["plural"] for kind in catalogue.kinds()
    }


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_composition_calls_the_one_function(kind: str) -> None:
    composition = catalogue.composition(kind)
    assert composition["spec"] == {
        "compositeTypeRef": {"apiVersion": names.API_VERSION, "kind": kind},
        "mode": "Pipeline",
        "pipeline": [{"step": "compose", "functionRef": {"name": "function-modelplane"}}],
    }
    assert catalogue.definition(kind)["spec"]["defaultCompositionRef"]["name"] == composition["metadata"]["name"]


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_every_field_is_described(kind: str) -> None:
    undescribed = [
        at
        for at, node in nodes(kind)
        if at and at[0] != "metadata" and at[-1] not in {"[]", "{}"} and not node.get("description", "").strip()
    ]
    assert undescribed == []


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_lists_say_what_they_are(kind: str) -> None:
    """A list without a type is replaced as a whole by whoever applies it last."""
    assert [
        at for at, node in nodes(kind) if node.get("type") == "array" and "x-kubernetes-list-type" not in node
    ] == []


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_spec_is_bounded(kind: str) -> None:
    """Cost budgets of rules, and the size of an object, hold only where everything has a limit."""
    limits = {"array": "maxItems", "string": "maxLength"}
    unbounded = [
        at
        for at, node in spec_nodes(kind)
        if (limit := limits.get(node.get("type", ""))) and limit not in node and "enum" not in node
    ]
    maps = [at for at, node in spec_nodes(kind) if "additionalProperties" in node and "maxProperties" not in node]
    assert unbounded + maps == []


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_nothing_at_the_top_that_crossplane_drops(kind: str) -> None:
    properties = schema_of(kind)["properties"]
    assert set(properties["spec"]) <= _KEPT_AT_SPEC
    assert set(properties["status"]) <= _KEPT_AT_SPEC
    assert set(schema_of(kind)) <= {*_KEPT_AT_SPEC, "type"}
    assert set(properties["metadata"]["properties"]["name"]) == {"type", "maxLength"}


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_rules_compile_and_say_what_to_write(kind: str) -> None:
    for at, node in nodes(kind):
        for rule in node.get("x-kubernetes-validations", ()):
            rules.compile(rule["rule"])
            assert re.search(
                r"\b(must|write|needs?|remove|use|takes?|set|immutable|reserved|goes|always|could)\b", rule["message"]
            ), at
            assert "\n" not in rule["message"].strip()


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_columns_read_declared_fields(kind: str) -> None:
    for column in catalogue.definition(kind)["spec"]["versions"][0]["additionalPrinterColumns"]:
        condition = CONDITION_COLUMN.fullmatch(column["jsonPath"])
        if condition is not None:
            composer = COMPOSERS / f"{kinds.KINDS[kind].module}.py"
            assert f'"{condition[1]}"' in composer.read_text(encoding="utf-8"), "a condition that the function writes"
            continue
        node = schema_of(kind)
        for part in re.findall(r"[A-Za-z]+|\[\d+\]", column["jsonPath"]):
            node = node["items"] if part.startswith("[") else node["properties"][part]
        assert node["type"] == column["type"], column["name"]


def test_no_column_has_the_name_of_another() -> None:
    for kind in catalogue.kinds():
        version = catalogue.derived(kind)["spec"]["versions"][0]
        found = [column["name"] for column in version["additionalPrinterColumns"]]
        assert len(found) == len(set(found)), kind


def test_columns_of_the_contract() -> None:
    def columns(kind: str) -> list[str]:
        version = catalogue.derived(kind)["spec"]["versions"][0]
        return [column["name"] for column in version["additionalPrinterColumns"] if not column.get("priority")]

    assert [c for c in columns("ModelDeployment") if c not in {"SYNCED", "COMPOSITION"}] == [
        "DESIRED",
        "SCHEDULED",
        "SERVING",
        "PLACEMENT",
        "BACKEND",
        "READY",  # Crossplane's own, of the condition
        "AGE",
    ]
    assert columns("InferenceCluster")[:6] == ["SOURCE", "POOLS", "DEVICES", "FREE", "REPLICAS", "GATEWAY"]


def test_scale_subresource() -> None:
    version = catalogue.definition("ModelDeployment")["spec"]["versions"][0]
    assert version["subresources"]["scale"] == {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }
    status = schema_of("ModelDeployment")["properties"]["status"]["properties"]
    assert (status["replicas"]["type"], status["selector"]["type"]) == ("integer", "string")


def test_roles_of_a_deployment_have_one_shape() -> None:
    spec = schema_of("ModelDeployment")["properties"]["spec"]["properties"]
    prefill = spec["prefill"]["properties"]
    assert prefill == {key: spec[key] for key in ("nodeSelector", "workers")}


def test_replica_is_a_deployment_bound_to_a_place() -> None:
    deployment = schema_of("ModelDeployment")["properties"]["spec"]["properties"]
    replica = schema_of("ModelReplica")["properties"]["spec"]["properties"]
    for key in ("model", "engine", "modelCacheRef", "nodeSelector", "workers", "priority"):
        assert replica[key] == deployment[key], key
    role = ("pool", "nodeSelector", "devices", "constraints", "workers")
    assert replica["prefill"]["properties"] == {key: replica[key] for key in role}
    assert replica["backend"]["enum"] == deployment["backend"]["enum"]


def test_selectors_have_one_shape() -> None:
    deployment = schema_of("ModelDeployment")["properties"]["spec"]["properties"]["clusterSelector"]
    inference = schema_of("LLMInference")["properties"]["spec"]["properties"]["clusterSelector"]
    group = schema_of("ModelService")["properties"]["spec"]["properties"]["endpoints"]["items"]["properties"][
        "selector"
    ]
    assert deployment["properties"] == inference["properties"] == group["properties"]


def documents() -> list[Any]:
    found = []
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document and document.get("apiVersion") == names.API_VERSION:
                identity = f"{path.relative_to(ROOT / 'examples')}:{document['kind']}/{document['metadata']['name']}"
                found.append(pytest.param(document, id=identity))
    return found


@pytest.mark.parametrize("document", documents())
def test_examples_are_accepted(document: Json) -> None:
    assert catalogue.structural_kind(document["kind"]).problems(document) == ()
