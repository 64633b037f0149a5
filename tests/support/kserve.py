"""Replicas of every shape that KServe serves, and what is rendered for them."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render.backends import kserve
from modelplane.render.manifest import Manifest
from modelplane.topology.shape import Topology
from modelplane.workload.model import Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.support import replicas

GANG = Topology(tensor=8, pipeline=2)
DATA = Topology(tensor=2, data=8, data_local=4, expert=True)
SHAPES = {
    "one node": replicas.replica(replicas.role(topology=Topology(tensor=8))),
    "several workers": replicas.replica(replicas.role(workers=3)),
    "several gangs": replicas.replica(replicas.role(workers=2, topology=GANG)),
    "pipeline": replicas.replica(replicas.role(topology=GANG)),
    "data": replicas.replica(replicas.role(topology=DATA)),
    "disaggregated": replicas.replica(replicas.role(workers=3), replicas.role(Role.PREFILL, workers=5, pool="l40s")),
    "disaggregated gangs": replicas.replica(replicas.role(topology=GANG), replicas.role(Role.PREFILL, topology=DATA)),
    "gangs of pipelines": replicas.replica(replicas.role(topology=GANG), replicas.role(Role.PREFILL, topology=GANG)),
}
FACTS = ClusterFacts(
    "gke-us",
    "modelplane",
    "modelplane-system",
    pool_node_selector={"h100": {"cloud.google.com/gke-nodepool": "h100"}},
    pool_taints={"h100": (("nvidia.com/gpu", "present", "NoSchedule"), ("dedicated", "", "NoExecute"))},
)
every_shape = pytest.mark.parametrize("replica", [pytest.param(value, id=key) for key, value in SHAPES.items()])


def rendered(replica: Replica, facts: ClusterFacts = FACTS) -> dict[str, Manifest]:
    """Return the manifests of a replica by key."""
    return {manifest.key: manifest for manifest in kserve.render(replica, facts)}


def service(replica: Replica, facts: ClusterFacts = FACTS) -> dict[str, Any]:
    """Return the spec of its LLMInferenceService."""
    return dict(rendered(replica, facts)["workload"].resource["spec"])


def main(spec: Any, key: str = "template") -> Any:
    """Return the engine's container."""
    return next(container for container in spec[key]["containers"] if container["name"] == "main")
