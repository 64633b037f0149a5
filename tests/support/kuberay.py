"""Replicas of every shape that KubeRay serves, and what is rendered for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from modelplane.devices.model import Claim
from modelplane.render.backends import kuberay
from modelplane.render.manifest import Manifest
from modelplane.topology.shape import Topology
from modelplane.workload.model import BoundRole, Model, Replica, Role, Workload
from modelplane.workload.site import ClusterFacts
from tests.support import kserve, manifests, native, replicas

Json = Any

IMAGE = "rayproject/ray-llm:2.60.0-py312-cu129"


def template(**fields: Json) -> dict[str, Json]:
    """Return a pod template with an image of Ray."""
    return replicas.template(IMAGE, **fields)


def role(which: Role = Role.DECODE, **fields: Json) -> BoundRole:
    """Return a bound role whose pods have an image of Ray."""
    return replicas.role(which, **{"pod_template": template(), **fields})


def replica(*roles: BoundRole, **fields: Json) -> Replica:
    """Return a replica with the backend KubeRay."""
    return replicas.replica(*(roles or (role(),)), **{"backend": "KubeRay", **fields})


SHAPES = {
    "one node": replica(role(workers=3, topology=Topology(tensor=8))),
    "device plugin": replica(role(devices=(replicas.device(claim=Claim.DEVICE_PLUGIN),))),
    "nothing claimed": replica(role(devices=(replicas.device(claim=Claim.SYNTHETIC),))),
    "pipeline": replica(role(workers=2, topology=kserve.GANG)),
    "data": replica(role(topology=kserve.DATA)),
    "data on one node": replica(role(topology=Topology(data=4, data_local=4))),
    "disaggregated": replica(role(workers=3), role(Role.PREFILL, workers=5, pool="l40s")),
    "disaggregated gangs": replica(role(topology=kserve.GANG), role(Role.PREFILL, topology=kserve.DATA)),
    "weights on a volume": replica(model=Model("llama", "pvc://weights/llama/8b")),
}
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])


def rendered(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return manifests.by_key(kuberay, replica, facts)


def workload(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Mapping[str, Json]:
    """Return its RayService."""
    return manifests.workload(kuberay, replica, facts).resource


def key(replica: Replica) -> str:
    """Return the key of its RayService."""
    return manifests.workload(kuberay, replica).key


def cluster(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> Json:
    """Return the configuration of its Ray cluster."""
    return workload(replica, facts)["spec"]["rayClusterConfig"]


def groups(replica: Replica, facts: ClusterFacts = kserve.FACTS) -> dict[str, Json]:
    """Return its worker groups by name."""
    return {group["groupName"]: group for group in cluster(replica, facts)["workerGroupSpecs"]}


def engine(group: Mapping[str, Json]) -> Json:
    """Return the container in which Ray runs."""
    return group["template"]["spec"]["containers"][0]


def application(replica: Replica) -> Json:
    """Return its Serve application."""
    (found,) = yaml.safe_load(workload(replica)["spec"]["serveConfigV2"])["applications"]
    return found


def engines(replica: Replica) -> dict[str, Json]:
    """Return the configuration of its engines by role."""
    args = application(replica)["args"]
    if "prefill_config" in args:
        return {"prefill": args["prefill_config"], "decode": args["decode_config"]}
    return {"decode": args["llm_config"] if "llm_config" in args else args["llm_configs"][0]}


def asked(replica: Replica, **changed: Json) -> Workload:
    """Return the workload that a replica is one of."""
    return native.asked(replica, **changed)
