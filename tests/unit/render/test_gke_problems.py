"""GKE: what Google Cloud would refuse is refused before, at the field, with what to write; and help with its errors."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render.clouds import gke
from modelplane.render.clouds.gke.machines import MACHINES
from modelplane.workload.created import PoolSpec
from tests.support import sites

Json = Any
SETTINGS = {"project": "acme-inference", "region": "us-central1"}
L4 = {"machineType": "g2-standard-96"}
H200 = {"machineType": "a3-ultragpu-8g"}
ZONE = ("us-central1-b",)
TWO = ("us-central1-a", "us-central1-c")
OWN = {"network": "shared", "subnetwork": "shared-us"}


def _problems(settings: Json = None, *pools: PoolSpec, **site: Any) -> list[str]:
    found = sites.site("gke", SETTINGS | (settings or {}), **site)
    return [str(one) for one in gke.problems(found, pools)]


def _pool(recipe: Json = None, **fields: Any) -> PoolSpec:
    return sites.pool("gke", L4 | (recipe or {}), **{"zones": ZONE, **fields})


@pytest.mark.parametrize(
    ("settings", "starts", "says"),
    [
        pytest.param({"project": "Acme"}, "spec.cluster.gke.project:", "6 to 30 lower-case letters", id="project"),
        pytest.param({"project": 7}, "spec.cluster.gke.project:", "must be a string", id="unreadable"),
        pytest.param({"region": "us-central1-b"}, "spec.cluster.gke.region:", "zones like us-central1-b", id="a-zone"),
        pytest.param({"network": "n"}, "spec.cluster.gke.subnetwork:", "is required with network", id="no-subnetwork"),
        pytest.param({"subnetwork": "n"}, "spec.cluster.gke.network:", "is required with subnetwork", id="no-network"),
        pytest.param({"podRangeName": "p"}, "spec.cluster.gke.podRangeName:", "name network", id="range-of-no-network"),
        pytest.param(
            OWN | {"podRangeName": "p"},
            "spec.cluster.gke.serviceRangeName:",
            "name both, or neither",
            id="one-range-name",
        ),
        pytest.param(
            OWN | {"podRangeName": "p", "serviceRangeName": "s", "podCidr": "10.0.0.0/14"},
            "spec.cluster.gke.podCidr:",
            "contradicts podRangeName",
            id="name-and-range",
        ),
        pytest.param(OWN | {"nodeCidr": "10.0.0.0/20"}, "spec.cluster.gke.nodeCidr:", "remove it", id="existing-nodes"),
        pytest.param({"podCidr": "10.16.0.0/13"}, "spec.cluster.gke.podCidr:", "overlap", id="overlap"),
        pytest.param({"podCidr": "10.16.0.1/14"}, "spec.cluster.gke.podCidr:", "has host bits set", id="host-bits"),
        pytest.param({"podCidr": "pods"}, "spec.cluster.gke.podCidr:", "write one like 10.16.0.0/14", id="no-range"),
        pytest.param({"serviceCidr": "8.8.0.0/20"}, "spec.cluster.gke.serviceCidr:", "is not private", id="public"),
        pytest.param({"serviceCidr": "10.20.0.0/28"}, "spec.cluster.gke.serviceCidr:", "/27 or larger", id="too-small"),
        pytest.param({"podCidr": "10.16.0.0/22"}, "spec.cluster.gke.podCidr:", "write /21 or larger", id="few-pods"),
        pytest.param({"releaseChannel": "FAST"}, "spec.cluster.gke.releaseChannel:", "RAPID, REGULAR", id="channel"),
        pytest.param({"kubernetesVersion": "new"}, "spec.cluster.gke.kubernetesVersion:", "like 1.35", id="version"),
        pytest.param(
            {"kubernetesVersion": "1.35.1-gke.1", "releaseChannel": "RAPID"},
            "spec.cluster.gke.kubernetesVersion:",
            "write 1.35 as the least version of the channel",
            id="pin-and-channel",
        ),
        pytest.param(
            {"kubernetesVersion": "1.35.1"},
            "spec.cluster.gke.kubernetesVersion:",
            "1.35.1-gke.",
            id="no-version-of-gke",
        ),
        pytest.param({"access": "Token"}, "spec.cluster.gke.access:", "Key or InjectedIdentity", id="access"),
        pytest.param(
            {"nodeServiceAccount": "nodes"}, "spec.cluster.gke.nodeServiceAccount:", "gserviceaccount.com", id="account"
        ),
    ],
)
def test_settings_are_refused(settings: Json, starts: str, says: str) -> None:
    assert not _problems()
    (problem,) = _problems(settings)
    assert problem.startswith(starts)
    assert says in problem


@pytest.mark.parametrize(
    ("pool", "starts", "says"),
    [
        pytest.param({"name": "system"}, "spec.nodePools[0]:", "belongs to the pool of the controllers", id="name"),
        pytest.param({"zones": ("europe-west4-a",)}, "spec.nodePools[0].zones:", "us-central1-b", id="other-region"),
        pytest.param({"zones": ("us-central1",)}, "spec.nodePools[0].zones:", "is no zone", id="a-region"),
        pytest.param({"zones": ()}, "spec.nodePools[0].zones:", "is required with nodeCount", id="fixed-without-zones"),
        pytest.param({"zones": TWO, "count": 3}, "spec.nodePools[0].nodeCount:", "write 2 or 4", id="remainder"),
        pytest.param({"zones": TWO, "count": 1}, "spec.nodePools[0].nodeCount:", "write 2, or name", id="too-few"),
        pytest.param({"count": 1001}, "spec.nodePools[0]:", "1000 per zone", id="too-many"),
        pytest.param(
            {"count": None, "bounds": (0, 0)}, "spec.nodePools[0].maxNodeCount:", "nodeCount: 0", id="scales-to-nothing"
        ),
        pytest.param(
            {"labels": (("cloud.google.com/x", "a"),)},
            "spec.nodePools[0]:",
            "set by GKE alone",
            id="label-of-the-cloud",
        ),
        pytest.param({"devices": 4}, "spec.nodePools[0]:", "has 8 devices, but the class declares 4", id="devices"),
        pytest.param(
            {"devices": 4, "drivers": ("dra.net", "gpu.nvidia.com")},
            "spec.nodePools[0]:",
            "declares 4",
            id="less-with-nics",
        ),
    ],
)
def test_pools_are_refused(pool: Json, starts: str, says: str) -> None:
    assert not _problems(None, _pool())
    (problem,) = _problems(None, _pool(**pool))
    assert problem.startswith(starts)
    assert says in problem


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        pytest.param({"machineType": None}, "machineType: is required", id="no-type"),
        pytest.param({"machineType": "g9-standard-1"}, "gke.acceleratorType is required", id="unknown-type"),
        pytest.param({"acceleratorType": "nvidia-b200"}, "write nvidia-l4, or remove it", id="other-device"),
        pytest.param({"acceleratorCount": 4}, "write 8, or remove it", id="other-number"),
        pytest.param({"driverVersion": "535"}, "one of Default, Latest, Disabled", id="driver"),
        pytest.param({"localSsdCount": 3}, "write 0 or 8", id="disks"),
        pytest.param(H200 | {"localSsdCount": 16}, "write 32", id="fixed-disks"),
        pytest.param(H200 | {"diskType": "pd-ssd"}, "write hyperdisk-balanced", id="disk-type"),
        pytest.param({"placementPolicy": "Spread"}, "write None or Compact", id="placement"),
        pytest.param({"networkProfile": "auto"}, "has no RDMA interfaces", id="no-rdma"),
        pytest.param(H200 | {"networkProfile": "mine"}, "write auto, or remove it", id="profile"),
        pytest.param({"spot": True, "reservation": "r"}, "spot excludes reservation", id="spot-and-reserved"),
        pytest.param({"flexStart": True, "reservation": "r"}, "flexStart excludes reservation", id="flex-and-reserved"),
        pytest.param({"maxRunSeconds": 3600}, "is taken only with flexStart", id="bounded-life"),
        pytest.param(
            {"imageCacheDisk": "i", "imageStreaming": False}, "works only with imageStreaming", id="images-on-a-disk"
        ),
        pytest.param({"spot": "yes"}, "spot: must be true or false", id="unreadable"),
    ],
)
def test_recipes_are_refused_at_the_pool(recipe: Json, says: str) -> None:
    problems = _problems(None, _pool(recipe, count=None))
    assert len(problems) == 1, problems
    assert problems[0].startswith("spec.nodePools[0]: class class: spec.provisioning.gke.")
    assert says in problems[0]


def test_small_nodes_of_a3_are_sold_only_while_they_last() -> None:
    small = {"machineType": "a3-highgpu-2g"}
    (problem,) = _problems(None, _pool(small, devices=2, count=None))
    assert "a3-highgpu-2g is sold only with spot or flexStart" in problem
    assert not _problems(None, _pool(small | {"spot": True}, devices=2, count=None))


def test_flex_start_needs_a_pool_that_scales() -> None:
    (problem,) = _problems(None, _pool({"flexStart": True}))
    assert problem.startswith("spec.nodePools[0].nodeCount: class class starts nodes when capacity comes (flexStart)")
    assert "write maxNodeCount" in problem


def test_nodes_that_are_close_together_are_in_one_zone() -> None:
    problems = _problems(None, _pool(H200 | {"placementPolicy": "Compact", "networkProfile": "auto"}, zones=TWO))
    assert [problem.partition(", ")[0] for problem in problems] == ["spec.nodePools[0].zones: 2 zones are named"] * 2


def test_network_interfaces_are_devices_beside_those_of_the_type() -> None:
    assert not _problems(None, _pool(H200, devices=16, drivers=("dra.net", "gpu.nvidia.com")))


def test_both_kinds_of_limits_are_refused() -> None:
    pool = _pool(count=None)
    pool.at.value["nodeCount"] = 2
    (problem,) = _problems(None, pool)
    assert problem.startswith("spec.nodePools[0].nodeCount: stands beside minNodeCount or maxNodeCount")


def test_claims_need_a_version_that_serves_them() -> None:
    (problem,) = _problems({"kubernetesVersion": "1.33"}, _pool(), _pool(name="other"))
    assert problem.startswith("spec.cluster.gke.kubernetesVersion: 1.33 does not serve resource.k8s.io/v1")
    assert "of pool other, pool are claimed; write 1.34" in problem
    assert not _problems({"kubernetesVersion": "1.33"}, _pool(drivers=()))
    assert not _problems({"kubernetesVersion": "1.34"}, _pool())


def test_all_nodes_have_addresses() -> None:
    problems = _problems({"podCidr": "10.16.0.0/20", "nodeCidr": "10.0.0.0/28"}, _pool(count=20))
    assert [problem.partition(" has ")[0] for problem in problems] == [
        "spec.cluster.gke.podCidr: 10.16.0.0/20",
        "spec.cluster.gke.nodeCidr: 10.0.0.0/28",
    ]
    assert "16 nodes (256 each), but the pools may have 23 with the system pool" in problems[0]


def test_the_name_of_an_adopted_cluster_fits() -> None:
    (problem,) = _problems(None, external_name="P" * 41)
    assert problem.startswith("spec.cluster.externalName: ")
    assert not _problems(None, external_name="prod-7")


def test_everything_is_said_at_once_and_once() -> None:
    problems = _problems(
        {"project": "Acme", "region": "us-central1-b", "podCidr": "x", "kubernetesVersion": "1.33"},
        _pool({"spot": "yes"}, count=3, zones=TWO),
        _pool({"acceleratorCount": 4}, name="system"),
    )
    assert len(problems) == len(set(problems))
    for says in ("project", "region", "podCidr", "1.33", "spot: must be", "write 2 or 4", "acceleratorCount", "system"):
        assert any(says in problem for problem in problems), says


@pytest.mark.parametrize("machine", MACHINES)
def test_each_type_of_the_table_is_consistent(machine: str) -> None:
    facts = MACHINES[machine]
    spot = {"spot": facts.is_small_a3}
    assert not _problems(None, _pool({"machineType": machine, **spot}, devices=facts.devices, count=None))
    assert facts.disk.startswith("hyperdisk-") or not facts.has_hyperdisk_only
    suffix = machine.rpartition("-")[2]
    if suffix.endswith("g"):
        assert facts.devices == int(suffix.removesuffix("g")), "the name says the number"


@pytest.mark.parametrize(
    ("message", "says"),
    [
        pytest.param(
            'googleapi: Error 403: Insufficient regional quota to satisfy request: resource "NVIDIA_L4_GPUS": request '
            "requires '8.0' and is short '7.0'. project has a quota of '1.0' with '1.0' available., forbidden",
            "ask Google Cloud for more quota",
            id="quota-is-a-403-too",
        ),
        pytest.param("Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally.", "more quota", id="global-quota"),
        pytest.param(
            "Google Compute Engine: Not all instances running in IGM after 14.6s. Expected 1, running 0, transitioning "
            "1. Current errors: [GCE_STOCKOUT]: Instance 'gke-x' creation failed: The zone 'projects/p/zones/z' does "
            "not have enough resources available to fulfill the request.  Try a different zone, or try again later",
            "name another zone",
            id="stock-out-of-gke",
        ),
        pytest.param(
            "code: ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: A a3-highgpu-8g VM instance is currently unavailable in "
            "the us-central1-b zone.",
            "name another zone",
            id="stock-out-of-compute",
        ),
        pytest.param(
            "googleapi: Error 403: Kubernetes Engine API has not been used in project 123 before or it is disabled. "
            "Enable it by visiting ... reason: SERVICE_DISABLED",
            "enable the API",
            id="api-that-is-off",
        ),
        pytest.param(
            "googleapi: Error 403: Required 'compute.networks.create' permission for 'projects/p/global/networks/n', "
            "forbidden",
            "give the identity of the ClusterProviderConfig",
            id="permission",
        ),
        pytest.param(
            "Error 400: Key creation is not allowed on this service account: "
            "constraints/iam.disableServiceAccountKeyCreation",
            "access: InjectedIdentity",
            id="keys-are-forbidden",
        ),
        pytest.param(
            'googleapi: Error 400: Accelerator type "nvidia-b200" does not exist in zone us-central1-f., badRequest',
            "accelerator-types list",
            id="device-that-is-not-there",
        ),
        pytest.param(
            "refuse to update the external resource because the following update requires replacing it: cannot change "
            'the value of the argument "node_config.0.machine_type" from "a" to "b"',
            "another name",
            id="replacement",
        ),
        pytest.param(
            'googleapi: Error 400: Master version "1.31.1" is unsupported., badRequest',
            "get-server-config",
            id="version",
        ),
        pytest.param(
            "Error 400: The network resource 'projects/p/global/networks/n' is already being used by "
            "'projects/p/global/firewalls/k8s-fw-1', resourceInUseByAnotherResource",
            "load balancer",
            id="what-others-left",
        ),
        pytest.param(
            "Error 400: Service account x@p.iam.gserviceaccount.com does not exist., badRequest",
            "is being made",
            id="account-that-is-on-its-way",
        ),
        pytest.param("googleapi: Error 400: Cluster is currently being updated", "it is tried again", id="operation"),
        pytest.param("node pool is degraded: GCE_STOCKOUT", "name another zone", id="stock-out-by-its-code"),
        pytest.param("the moon is full", "", id="unknown"),
    ],
)
def test_errors_of_the_cloud_are_explained(message: str, says: str) -> None:
    advice = gke.advice(message)
    assert says in advice
    assert bool(advice) is bool(says)
