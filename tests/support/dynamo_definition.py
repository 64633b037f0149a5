"""The definition of DynamoGraphDeployments, written after Dynamo's Go types: no registry serves the shipped one.

It has the fields that are rendered and those beside them, the rules and the defaults of the types, and the pod template
that LeaderWorkerSet's definition has, which the same generator made of the same Kubernetes types.

Source: deploy/operator/api/v1beta1 of ai-dynamo/dynamo 1.6 (dynamographdeployment_types.go,
dynamocomponentdeployment_types.go, common.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.conformance.tools import workshop
from tests.support import installation

Json = Any
NAME = "dynamographdeployments.nvidia.com"

_TEXT, _SWITCH = {"type": "string"}, {"type": "boolean"}
_COUNT: Json = {"type": "integer", "format": "int32"}
_TEXTS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
_ANY: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_QUANTITY: Json = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
_VERSION = r"^(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$"


def _rule(rule: str, message: str, **more: Json) -> Json:
    return {"rule": rule, "message": message, **more}


def _map(required: tuple[str, ...] = (), **properties: Json) -> Json:
    found: Json = {"type": "object", "properties": properties}
    return {**found, "required": list(required)} if required else found


def document() -> dict[str, Json]:
    """Return the CustomResourceDefinition."""
    template = _pod_template()
    graph = _map(
        ("spec",),
        apiVersion=_TEXT, kind=_TEXT, metadata={"type": "object"}, spec=_spec(template), status=_status(),
    )  # fmt: skip
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": graph},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": "nvidia.com",
            "scope": "Namespaced",
            "names": {
                "kind": "DynamoGraphDeployment",
                "listKind": "DynamoGraphDeploymentList",
                "plural": "dynamographdeployments",
                "singular": "dynamographdeployment",
                "shortNames": ["dgd"],
            },
            "versions": [version],
        },
    }


def _pod_template() -> Json:
    """Return the schema of a PodTemplateSpec, from the definition of LeaderWorkerSets."""
    found = next(
        one
        for one in installation.documents(*workshop.definitions("lws"))
        if one["metadata"]["name"].startswith("leaderworkersets.")
    )
    root: Mapping[str, Json] = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    template: Json = root["properties"]["spec"]["properties"]["leaderWorkerTemplate"]["properties"]["workerTemplate"]
    return template


def _spec(template: Json) -> Json:
    pod = template["properties"]["spec"]["properties"]
    components = {
        "type": "array",
        "maxItems": 25,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": _component(template),
        "x-kubernetes-validations": [
            _rule(
                "self.filter(c, has(c.type) && c.type == 'epp').size() <= 1", "at most one component may have type epp"
            ),
            _rule(
                "self.all(c1, self.filter(c2, c2.name.lowerAscii() == c1.name.lowerAscii()).size() == 1)",
                "component names must be unique case-insensitively",
            ),
        ],
    }
    found = _map(
        providerOverride=_ANY,
        annotations=_TEXTS,
        labels=_TEXTS,
        priorityClassName=_TEXT,
        components=components,
        env=pod["containers"]["items"]["properties"]["env"],
        backendFramework={"type": "string", "enum": ["sglang", "vllm", "trtllm"]},
        restart=_map(("id",), id={"type": "string", "minLength": 1}, strategy=_ANY),
        topologyConstraint=_ANY,
        experimental=_ANY,
    )
    is_new = _rule("oldSelf.hasValue() || !has(self.restart)", "restart must be unset on create", optionalOldSelf=True)
    return {**found, "x-kubernetes-validations": [is_new]}


def _component(template: Json) -> Json:
    found = _map(
        ("name",),
        providerOverride=_ANY,
        name={
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "pattern": "^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$",
        },
        type={"type": "string", "enum": ["frontend", "worker", "prefill", "decode", "planner", "epp"]},
        runtimeVersionOverride={"type": "string", "pattern": _VERSION},
        globalDynamoNamespace=_SWITCH,
        podTemplate=template,
        replicas={**_COUNT, "minimum": 0},
        minAvailable={**_COUNT, "minimum": 1},
        multinode=_map(nodeCount={**_COUNT, "default": 2, "minimum": 2}),
        sharedMemorySize=_QUANTITY,
        modelRef=_map(("name",), name={"type": "string", "minLength": 1}, revision=_TEXT),
        scalingAdapter={"type": "object"},
        eppConfig=_ANY,
        frontendSidecar=_TEXT,
        dynamoSidecar=_TEXT,
        compilationCache=_map(("pvcName",), pvcName={"type": "string", "minLength": 1}, mountPath=_TEXT),
        topologyConstraint=_ANY,
        experimental=_ANY,
    )
    rules = [
        _rule("!has(self.eppConfig) || (has(self.type) && self.type == 'epp')", "eppConfig needs type epp"),
        _rule(
            "!has(self.minAvailable) || (has(self.replicas) && self.replicas == 0) || "
            "self.minAvailable <= (has(self.replicas) ? self.replicas : 1)",
            "minAvailable must be at most replicas",
        ),
        _rule(
            "!has(oldSelf.type) || (has(self.type) && self.type == oldSelf.type)", "type is immutable after it is set"
        ),
    ]
    return {**found, "x-kubernetes-validations": rules}


def _status() -> Json:
    condition = _map(
        ("type", "status"),
        type=_TEXT, status=_TEXT, reason=_TEXT, message=_TEXT, observedGeneration={"type": "integer"},
        lastTransitionTime={"type": "string", "format": "date-time"},
    )  # fmt: skip
    counts = _map(
        componentKind={
            "type": "string",
            "enum": ["PodClique", "PodCliqueScalingGroup", "Deployment", "LeaderWorkerSet"],
        },
        componentNames={"type": "array", "items": _TEXT},
        replicas=_COUNT,
        updatedReplicas=_COUNT,
        readyReplicas=_COUNT,
        availableReplicas=_COUNT,
    )
    return _map(
        observedGeneration={"type": "integer", "format": "int64"},
        state={
            "type": "string",
            "default": "initializing",
            "enum": ["initializing", "pending", "successful", "failed"],
        },
        conditions={
            "type": "array",
            "items": condition,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
        components={"type": "object", "additionalProperties": counts},
        rollingUpdate=_ANY,
        restart=_ANY,
    )
