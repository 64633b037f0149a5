"""Replicas of every shape that VLLMStack serves, and what is rendered for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.devices.model import Claim
from modelplane.render.backends import vllmstack
from modelplane.render.backends.vllmstack import service
from modelplane.render.manifest import Manifest, Purpose
from modelplane.topology.shape import Topology
from modelplane.workload.model import BoundRole, Model, Replica, ResolvedRequest, Workload
from modelplane.workload.site import ClusterFacts
from tests.support import kserve, native, replicas

Json = Any

IMAGE = "lmcache/vllm-openai:v0.3.13"
TOKEN = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}


def template(**fields: Json) -> dict[str, Json]:
    """Return a pod template with an image that the operator can start."""
    return replicas.template(IMAGE, **fields)


def device(count: int = 1, **fields: Json) -> ResolvedRequest:
    """Return a device that a device plugin counts."""
    return replicas.device(count=count, **{"claim": Claim.DEVICE_PLUGIN, **fields})


def role(**fields: Json) -> BoundRole:
    """Return a bound role whose devices a device plugin counts."""
    topology = fields.get("topology") or Topology()
    given = {"pod_template": template(), "devices": (device(topology.devices_per_node),)}
    return replicas.role(**{**given, **fields})


def replica(bound: BoundRole | None = None, **fields: Json) -> Replica:
    """Return a replica with the backend VLLMStack."""
    return replicas.replica(bound or role(), **{"backend": "VLLMStack", **fields})


RESOURCES = {"requests": {"cpu": "2000m", "memory": "8192Mi"}, "limits": {"memory": "8Gi"}}
SHAPES = {
    "one device": replica(),
    "several workers": replica(role(workers=3, topology=Topology(tensor=8))),
    "nothing claimed": replica(role(devices=(replicas.device(claim=Claim.SYNTHETIC),))),
    "another vendor": replica(role(devices=(device(resource_name="amd.com/gpu"),))),
    "a revision": replica(model=Model("llama", "hf://meta-llama/Llama-3.1-8B-Instruct@main")),
    "all fields": replica(
        role(
            pod_template=template(
                engine={
                    "args": ["--no-enable-prefix-caching", "--max-model-len=16k", "--dtype", "auto"],
                    "env": [{"name": "A", "value": "1"}, {"name": "B"}, TOKEN],
                    "imagePullPolicy": "Always",
                    "resources": RESOURCES,
                    "ports": [{"containerPort": 8000}],
                    "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
                },
                metadata={"labels": {"team": "a"}, "annotations": {"example.com/note": "b"}},
                imagePullSecrets=[{"name": "registry"}],
                volumes=[{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16384Mi"}}],
            )
        )
    ),
}
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])


def rendered(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return {manifest.key: manifest for manifest in vllmstack.render(replica, facts)}


def runtime(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Json]:
    """Return its VLLMRuntime."""
    (found,) = (one for one in vllmstack.render(replica, facts) if one.purpose is Purpose.WORKLOAD)
    return dict(found.resource)


def spec(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Mapping[str, Json]:
    """Return the spec of its VLLMRuntime."""
    found: Mapping[str, Json] = runtime(replica, facts)["spec"]
    return found


def key(replica: Replica) -> str:
    """Return the key of its VLLMRuntime."""
    return service.identity(replica).key


def asked(replica: Replica, **changed: Json) -> Workload:
    """Return the workload that a replica is one of."""
    return native.asked(replica, **changed)
