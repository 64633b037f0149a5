"""Replicas of every shape that Dynamo serves, and what is rendered for them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.devices.model import Claim
from modelplane.render.backends import dynamo
from modelplane.render.manifest import Manifest, Purpose
from modelplane.topology.shape import Topology
from modelplane.workload.model import BoundRole, EngineType, Model, Replica, Role, Workload
from modelplane.workload.site import ClusterFacts
from tests.support import kserve, native, replicas

Json = Any

REGISTRY = "nvcr.io/nvidia/ai-dynamo"
IMAGES = {
    EngineType.VLLM: f"{REGISTRY}/vllm-runtime:1.6.1",
    EngineType.SGLANG: f"{REGISTRY}/sglang-runtime:1.6.1",
    EngineType.TRTLLM: f"{REGISTRY}/tensorrtllm-runtime:1.6.1",
}
ATTENTION = Topology(data=16, data_local=8, expert=True)


def template(image: str = IMAGES[EngineType.VLLM], **fields: Json) -> dict[str, Json]:
    """Return a pod template with a runtime of Dynamo."""
    return replicas.template(image, **fields)


def role(which: Role = Role.DECODE, engine: EngineType = EngineType.VLLM, **fields: Json) -> BoundRole:
    """Return a bound role whose pods have a runtime of Dynamo."""
    return replicas.role(which, **{"pod_template": template(IMAGES[engine]), **fields})


def replica(*roles: BoundRole, **fields: Json) -> Replica:
    """Return a replica with the backend Dynamo."""
    return replicas.replica(*(roles or (role(),)), **{"backend": "Dynamo", **fields})


def _of(engine: EngineType, *topologies: Topology) -> Replica:
    """Return a replica of an engine, of one role or of decode and prefill."""
    roles = zip((Role.DECODE, Role.PREFILL), topologies, strict=False)
    return replica(*(role(which, engine, topology=topology) for which, topology in roles), engine=engine)


SHAPES = {
    "one node": replica(role(workers=3, topology=Topology(tensor=8))),
    "device plugin": replica(role(devices=(replicas.device(claim=Claim.DEVICE_PLUGIN),))),
    "nothing claimed": replica(role(devices=(replicas.device(claim=Claim.SYNTHETIC),))),
    "SGLang": _of(EngineType.SGLANG, Topology(tensor=4)),
    "TensorRT-LLM": _of(EngineType.TRTLLM, Topology(tensor=8, expert=True)),
    "pipeline": replica(role(workers=2, topology=kserve.GANG)),
    "data": replica(role(topology=kserve.DATA)),
    "data on one node": replica(role(topology=Topology(data=4, data_local=4))),
    "SGLang over nodes": _of(EngineType.SGLANG, ATTENTION),
    "disaggregated": replica(role(workers=3), role(Role.PREFILL, workers=5, pool="l40s")),
    "disaggregated SGLang": _of(EngineType.SGLANG, Topology(tensor=4), Topology(tensor=2)),
    "disaggregated gangs": _of(EngineType.VLLM, kserve.GANG, kserve.DATA),
    "a gang of prefill": _of(EngineType.VLLM, Topology(), kserve.GANG),
    "disaggregated gangs of SGLang": _of(EngineType.SGLANG, ATTENTION, kserve.GANG),
    "weights on a volume": replica(model=Model("llama", "pvc://weights/llama/8b")),
}
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])


def rendered(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return {manifest.key: manifest for manifest in dynamo.render(replica, facts)}


def workload(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Mapping[str, Json]:
    """Return its graph."""
    (found,) = (one for one in dynamo.render(replica, facts) if one.purpose is Purpose.WORKLOAD)
    return found.resource


def key(replica: Replica) -> str:
    """Return the key of its graph."""
    (found,) = (one for one in dynamo.render(replica, kserve.FACTS) if one.purpose is Purpose.WORKLOAD)
    return found.key


def components(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Json]:
    """Return the components of its graph by name."""
    return {one["name"]: one for one in workload(replica, facts)["spec"]["components"]}


def main(component: Mapping[str, Json]) -> Json:
    """Return the container of a component in which Dynamo runs."""
    return next(one for one in component["podTemplate"]["spec"]["containers"] if one["name"] == "main")


def args(replica: Replica, component: str = "worker") -> list[str]:
    """Return the arguments of a component's workers."""
    found: list[str] = main(components(replica)[component])["args"]
    return found


def pairs(words: list[str]) -> set[tuple[str, str]]:
    """Return each argument with the one behind it."""
    return set(itertools.pairwise(words))


def asked(replica: Replica, **changed: Json) -> Workload:
    """Return the workload that a replica is one of."""
    return native.asked(replica, **changed)
