"""VLLMStack refuses what a VLLMRuntime has no field for, at the place that the author must change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.errors import InvalidInput
from modelplane.render import capability
from modelplane.render.backends import vllmstack
from modelplane.topology.shape import Topology
from modelplane.workload.model import EndpointPicker, EngineType, Model, Role, Workload
from tests.support import replicas
from tests.support import vllmstack as shapes

RESTATED = Path(__file__).parents[2] / "conformance" / "tools" / "restated"
DEFINITION = RESTATED / "production-stack.vllm.ai_vllmruntimes.yaml"
CONTAINER = "spec.workers.template.spec.containers[0]"
SHM = {"name": "shm", "mountPath": "/dev/shm"}
MEMORY = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}


def _refused(workload: Workload) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        vllmstack.check(workload)
    return caught.value


def _place(error: InvalidInput) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.path).removeprefix(".")


@pytest.mark.parametrize(
    ("changed", "place", "says"),
    [
        ({"engine": EngineType.SGLANG}, "spec.engine.type", "cannot start sglang; use vllm"),
        ({"engine": EngineType.CUSTOM}, "spec.engine.type", "cannot start custom"),
        ({"model": None}, "spec.model.uri", "must know the model"),
        ({"model": Model("llama", None)}, "spec.model.uri", "must know the model"),
        ({"model": Model("llama", "pvc://weights")}, "spec.model.uri", "cannot fetch pvc://; it supports hf://"),
        ({"endpoint_picker": EndpointPicker()}, "spec.endpointPicker", "no endpoint picker"),
        (
            {"roles": (shapes.role().spec, replicas.role(Role.PREFILL).spec)},
            "spec.prefill",
            "cannot hand the KV cache",
        ),
    ],
)
def test_of_a_deployment(changed: dict[str, Any], place: str, says: str) -> None:
    error = _refused(shapes.asked(shapes.replica(), **changed))
    assert _place(error) == place
    assert says in error.message


@pytest.mark.parametrize(
    ("topology", "field"),
    [
        (Topology(tensor=8, pipeline=2), "pipeline"),
        (Topology(data=4, data_local=4), "data"),
        (Topology(data=4, data_local=2), "data"),
        (Topology(tensor=2, expert=True), "expert"),
    ],
)
def test_of_a_topology(topology: Topology, field: str) -> None:
    error = _refused(shapes.asked(shapes.replica(shapes.role(topology=topology))))
    assert _place(error) == f"spec.workers.topology.{field}"


REFERENCE = {"secretKeyRef": {"name": "hf", "key": "token"}}


@pytest.mark.parametrize(
    ("engine", "place", "says"),
    [
        ({"image": "vllm/vllm-openai:v0.23.0"}, ".image", "use lmcache/vllm-openai"),
        ({"image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"}, ".image", "/opt/venv/bin/vllm"),
        ({"image": "mirror.example.com/x/vllm/vllm-openai@sha256:0"}, ".image", "/opt/venv/bin/vllm"),
        ({"command": ["vllm", "serve"]}, ".command", "runs no other command"),
        ({"args": ["sh", "-c", "vllm serve"]}, ".args", "runs no other command"),
        ({"args": ["--tensor-parallel-size=2"]}, ".args[0]", "workers.topology.tensor says 1"),
        ({"args": ["--port", "9000"]}, ".args[0]", "port says 8000"),
        ({"args": ["--served-model-name", "other"]}, ".args[0]", "model.name says llama"),
        ({"env": [{"name": "A", "valueFrom": REFERENCE}]}, ".env[0].valueFrom", "supports plain values"),
        (
            {
                "env": [
                    {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {**REFERENCE["secretKeyRef"], "optional": True}}}
                ]
            },
            ".env[0].valueFrom",
            "not optional",
        ),
        (
            {"env": [{"name": "A"}, {"name": "LMCACHE_REMOTE_URL", "value": "x"}]},
            ".env[1].name",
            "is set by the operator",
        ),
        ({"env": [{"name": "VLLM_USE_V1", "value": "1"}]}, ".env[0].name", "is set by the operator"),
        ({"envFrom": [{"secretRef": {"name": "a"}}]}, ".envFrom", "no field for it"),
        ({"lifecycle": {"preStop": {"exec": {"command": ["a"]}}}}, ".lifecycle", "no field for it"),
        ({"startupProbe": {"failureThreshold": 9}}, ".startupProbe", "no field for it"),
        ({"readinessProbe": {"periodSeconds": 9}}, ".readinessProbe", "no field for it"),
        ({"livenessProbe": {"periodSeconds": 9}}, ".livenessProbe", "no field for it"),
        ({"securityContext": {"runAsUser": 1}}, ".securityContext", "no field for it"),
        ({"workingDir": "/a"}, ".workingDir", "no field for it"),
        (
            {"ports": [{"containerPort": 8000}, {"containerPort": 9100}]},
            ".ports[1].containerPort",
            "remove the other ports",
        ),
        (
            {"resources": {"requests": {"ephemeral-storage": "1Gi"}}},
            ".resources.requests.ephemeral-storage",
            "supports only cpu and memory",
        ),
        (
            {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}},
            ".resources.limits.cpu",
            "write 1, or remove it",
        ),
        ({"volumeMounts": [{"name": "a", "mountPath": "/a"}]}, ".volumeMounts[0].mountPath", "/dev/shm only"),
    ],
)
def test_of_the_engine(engine: dict[str, Any], place: str, says: str) -> None:
    image = engine.get("image", shapes.IMAGE)
    fields = {key: value for key, value in engine.items() if key != "image"}
    bound = shapes.role(pod_template=replicas.template(image, engine=fields))
    error = _refused(shapes.asked(shapes.replica(bound)))
    assert _place(error) == f"{CONTAINER}{place}"
    assert says in error.message


@pytest.mark.parametrize(
    ("pod", "place"),
    [
        ({"sidecars": [{"name": "log", "image": "a"}]}, "containers[1]"),
        ({"serviceAccountName": "runner"}, "serviceAccountName"),
        ({"securityContext": {"fsGroup": 1}}, "securityContext"),
        ({"terminationGracePeriodSeconds": 300}, "terminationGracePeriodSeconds"),
        ({"imagePullSecrets": [{"name": "a"}, {"name": "b"}]}, "imagePullSecrets[1]"),
        ({"volumes": [{"name": "a", "emptyDir": {}}]}, "volumes[0]"),
        ({"volumes": [MEMORY]}, "volumes[0]"),
        ({"engine": {"volumeMounts": [SHM]}, "volumes": [MEMORY, {"name": "b", "emptyDir": {}}]}, "volumes[1]"),
        (
            {"engine": {"volumeMounts": [SHM]}, "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]},
            "volumes[0]",
        ),
    ],
)
def test_of_the_pod(pod: dict[str, Any], place: str) -> None:
    error = _refused(shapes.asked(shapes.replica(shapes.role(pod_template=shapes.template(**pod)))))
    assert _place(error) == f"spec.workers.template.spec.{place}"


def test_of_devices() -> None:
    bound = shapes.role(devices=(shapes.device(), shapes.device(name="nic", resource_name="example.com/nic")))
    assert _place(_refused(shapes.asked(shapes.replica(bound)))) == "spec.nodeSelector.devices"


def test_an_empty_field_is_none() -> None:
    engine: dict[str, Any] = {"envFrom": [], "lifecycle": {}, "command": [], "ports": [], "volumeMounts": []}
    bound = shapes.role(pod_template=shapes.template(engine=engine, securityContext={}, volumes=[]))
    vllmstack.check(shapes.asked(shapes.replica(bound)))


def test_a_mount_is_offered_no_volume_that_a_vllmruntime_cannot_have() -> None:
    """It named "model-cache", and a mount of that was refused."""
    template = shapes.template(engine={"volumeMounts": [{"name": "weights", "mountPath": "/models"}]})
    workload = shapes.asked(shapes.replica(shapes.role(pod_template=template)))
    with pytest.raises(InvalidInput) as caught:
        capability.check_mounts(vllmstack.CAPABILITIES, workload)
    assert _place(caught.value) == f"{CONTAINER}.volumeMounts[0].name"
    assert caught.value.message.endswith('mount one of "dshm"')


def test_a_runtime_has_no_field_for_a_claim_that_is_there() -> None:
    """The reason why VLLMStack mounts no ModelCache: its operator makes a claim of its own, from these fields alone."""
    (definition,) = yaml.safe_load_all(DEFINITION.read_text())
    (version,) = definition["spec"]["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    storage = fields["storageConfig"]["properties"]
    assert set(storage) == {"enabled", "storageClassName", "size", "accessMode", "mountPath", "volumeName"}
    assert not any("claim" in key.lower() or "pvc" in key.lower() for key in _keys(fields))


def _keys(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of every field, also of those inside."""
    for key, field in fields.items():
        yield key
        yield from _keys(field.get("properties") or {})
        yield from _keys((field.get("items") or {}).get("properties") or {})
