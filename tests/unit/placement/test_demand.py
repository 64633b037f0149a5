"""Workloads and replicas in the ledger's terms."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.devices.model import Claim, Request
from modelplane.errors import InvalidInput
from modelplane.placement import demand
from modelplane.placement.snapshot import Holding, PodShape
from modelplane.topology.shape import Topology
from modelplane.workload.model import BoundRole, EngineType, Replica, ResolvedRequest, Role, RoleSpec, Workload

GANG = Topology(tensor=8, pipeline=2)


def spec(*containers: dict[str, Any], topology: Topology = GANG, workers: int = 3) -> RoleSpec:
    template = {"spec": {"containers": list(containers)}}
    return RoleSpec(Role.DECODE, workers, topology, (Request("gpu", 8),), (), template)


def requests(**amounts: str) -> dict[str, Any]:
    return {"name": "engine", "resources": {"requests": amounts}}


AMOUNTS = [
    ("one container", [requests(cpu="16", memory="64Gi")], 16_000, 64 * 2**30),
    ("sidecars add up", [requests(cpu="16"), requests(cpu="500m", memory="1Gi")], 16_500, 2**30),
    ("a limit without a request is the request", [{"name": "e", "resources": {"limits": {"cpu": "2"}}}], 2_000, 0),
    (
        "the request comes before the limit",
        [{"name": "e", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}],
        1_000,
        0,
    ),
    ("fractions are rounded up", [requests(cpu="0.0001", memory="1.5")], 1, 2),
    ("nothing said, nothing taken", [{"name": "e"}], 0, 0),
]


@pytest.mark.parametrize(("reason", "containers", "cpu", "memory"), AMOUNTS, ids=[row[0] for row in AMOUNTS])
def test_node_resources(reason: str, containers: list[Any], cpu: int, memory: int) -> None:
    work = Workload("ns", "d", None, EngineType.CUSTOM, (spec(*containers),))
    (role,) = demand.of(work).roles
    assert (role.cpu_millis, role.memory_bytes) == (cpu, memory), reason
    assert (role.pods, role.nodes_per_worker) == (6, 2)


@pytest.mark.parametrize("amount", ["sixteen", "-1"])
def test_a_bad_amount_is_named_by_its_path(amount: str) -> None:
    work = Workload("ns", "d", None, EngineType.CUSTOM, (spec(requests(cpu="1"), requests(cpu=amount)),))
    with pytest.raises(InvalidInput) as caught:
        demand.of(work)
    assert caught.value.path == ("template", "spec", "containers", 1, "resources", "requests", "cpu")


def test_what_a_replica_holds_leaves_synthetic_devices_out() -> None:
    devices = (
        ResolvedRequest("gpu", "gpu", "gpu.nvidia.com", Claim.DRA, 8),
        ResolvedRequest("nic", "nic", "dra.net", Claim.DEVICE_PLUGIN, 4),
        ResolvedRequest("more", "nic", "dra.net", Claim.DEVICE_PLUGIN, 1),
        ResolvedRequest("fabric", "fabric", "modelplane.ai", Claim.SYNTHETIC, 1),
    )
    bound = BoundRole(spec(requests(cpu="1")), "main", devices)
    replica = Replica("ns", "d-0", "d", "a", "KServe", None, EngineType.CUSTOM, (bound,))
    assert demand.held(replica) == (Holding(Role.DECODE, "main", 6, PodShape((("gpu", 8), ("nic", 5)), 1_000, 0), 2),)
