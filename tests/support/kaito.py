"""Replicas of every shape that KAITO serves, and what is rendered for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.devices.model import Claim
from modelplane.render.backends import kaito
from modelplane.render.manifest import Manifest, Purpose
from modelplane.topology.shape import Topology
from modelplane.workload.model import BoundRole, EngineType, Model, Replica
from modelplane.workload.site import ClusterFacts
from tests.support import kserve, replicas

Json = Any


def replica(*roles: BoundRole, **fields: Json) -> Replica:
    """Return a replica with the backend KAITO."""
    return replicas.replica(*(roles or (replicas.role(),)), **{"backend": "KAITO", **fields})


SHAPES = {
    "one node": replica(replicas.role(workers=3, topology=Topology(tensor=8))),
    "data on one node": replica(replicas.role(topology=Topology(data=4, data_local=4))),
    "device plugin": replica(replicas.role(devices=(replicas.device(claim=Claim.DEVICE_PLUGIN),))),
    "no device": replica(
        replicas.role(devices=(replicas.device(claim=Claim.SYNTHETIC),)), engine=EngineType.LLAMACPP
    ),
    "custom": replica(
        replicas.role(pod_template=replicas.template("registry.example.com/engine:1")),
        engine=EngineType.CUSTOM, model=None,
    ),
    "weights on a volume": replica(model=Model("llama", "pvc://weights/llama/8b")),
}  # fmt: skip
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])


def rendered(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return {manifest.key: manifest for manifest in kaito.render(replica, facts)}


def _workload(replica: Replica, facts: ClusterFacts) -> Manifest:
    (found,) = (one for one in kaito.render(replica, facts) if one.purpose is Purpose.WORKLOAD)
    return found


def workload(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Mapping[str, Json]:
    """Return its InferenceSet."""
    return _workload(replica, facts).resource


def key(replica: Replica) -> str:
    """Return the key of its InferenceSet."""
    return _workload(replica, kserve.FACTS).key


def pod(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Mapping[str, Json]:
    """Return the template of its pods."""
    found: Mapping[str, Json] = workload(replica, facts)["spec"]["template"]["inference"]["template"]
    return found
