"""Replicas of every shape that Native serves, and what is rendered for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.devices.model import Claim
from modelplane.render.backends import native
from modelplane.render.manifest import Manifest
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica, Workload
from modelplane.workload.site import ClusterFacts
from tests.support import kserve, manifests, replicas

Json = Any

SHAPES = {
    "one node": replicas.replica(replicas.role(workers=3, topology=Topology(tensor=8)), backend="Native"),
    "device plugin": replicas.replica(
        replicas.role(devices=(replicas.device(claim=Claim.DEVICE_PLUGIN),)), backend="Native"
    ),
    "no device": replicas.replica(
        replicas.role(devices=(replicas.device(claim=Claim.SYNTHETIC),)), backend="Native", engine=EngineType.LLAMACPP
    ),
    "pipeline": replicas.replica(replicas.role(workers=2, topology=kserve.GANG), backend="Native"),
    "data": replicas.replica(replicas.role(topology=kserve.DATA), backend="Native"),
    "both": replicas.replica(replicas.role(topology=Topology(tensor=8, pipeline=2, data=2)), backend="Native"),
    "custom gang": replicas.replica(
        replicas.role(
            topology=kserve.GANG,
            pod_template=replicas.template("registry.example.com/engine:1", engine={"command": ["/start"]}),
        ),
        backend="Native", engine=EngineType.CUSTOM, model=None,
    ),
    "weights on a volume": replicas.replica(model=Model("llama", "pvc://weights/llama/8b"), backend="Native"),
}  # fmt: skip
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])


def rendered(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return manifests.by_key(native, replica, facts)


def workload(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Mapping[str, Json]:
    """Return the object that runs its pods."""
    return manifests.workload(native, replica, facts).resource


def templates(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> tuple[Mapping[str, Json], ...]:
    """Return the templates of its pods: of the only one, or of leader and worker."""
    spec = workload(replica, facts)["spec"]
    gang = spec.get("leaderWorkerTemplate")
    return (spec["template"],) if gang is None else (gang["leaderTemplate"], gang["workerTemplate"])


def engine(template: Mapping[str, Json]) -> dict[str, Json]:
    """Return the engine's container of a pod."""
    return next(dict(one) for one in template["spec"]["containers"] if one["name"] == "engine")


def asked(replica: Replica, **changed: Json) -> Workload:
    """Return the workload that a replica is one of."""
    given: dict[str, Json] = {
        "namespace": replica.namespace,
        "deployment": replica.deployment,
        "model": replica.model,
        "engine": replica.engine,
        "roles": tuple(bound.spec for bound in replica.roles),
    }
    return Workload(**{**given, **changed})
