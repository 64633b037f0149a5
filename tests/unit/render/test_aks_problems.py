"""AKS: what Azure would refuse is refused before, at the field, with what to write; and help with its errors."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render.clouds import aks
from modelplane.render.clouds.aks.sizes import SIZES
from modelplane.workload.created import PoolSpec
from tests.support import sites

Json = Any
H100 = {"vmSize": "Standard_ND96isr_H100_v5"}
GROUPS = "/subscriptions/s/resourceGroups/g/providers"
SUBNET = f"{GROUPS}/Microsoft.Network/virtualNetworks/n/subnets/nodes"
RESERVED = f"{GROUPS}/Microsoft.Compute/capacityReservationGroups/r"
CLOSE = f"{GROUPS}/Microsoft.Compute/proximityPlacementGroups/p"
SPOT = sites.taint("kubernetes.azure.com/scalesetpriority", value="spot")


def _problems(settings: Json = None, *pools: PoolSpec, **site: Any) -> list[str]:
    found = sites.site("aks", {"location": "swedencentral"} | (settings or {}), **site)
    return [str(one) for one in aks.problems(found, pools)]


def _pool(recipe: Json = None, **fields: Any) -> PoolSpec:
    return sites.pool("aks", H100 | (recipe or {}), **{"bounds": (1, 4), **fields})


@pytest.mark.parametrize(
    ("settings", "field", "says"),
    [
        pytest.param({"location": "West Europe"}, "location", "like westeurope", id="location"),
        pytest.param({"location": 7}, "location", "must be a string", id="unreadable"),
        pytest.param({"resourceGroup": "g."}, "resourceGroup", "end in no period", id="group"),
        pytest.param({"subnetId": "nodes"}, "subnetId", "/subnets/SUBNET", id="subnet"),
        pytest.param({"identityId": SUBNET}, "identityId", "userAssignedIdentities/IDENTITY", id="identity"),
        pytest.param({"subnetId": SUBNET, "nodeCidr": "10.0.0.0/20"}, "nodeCidr", "remove it", id="existing-nodes"),
        pytest.param({"nodeCidr": "10.65.0.0/20"}, "nodeCidr", "is not within the range of the virtual", id="outside"),
        pytest.param({"networkCidr": "10.0.0.0/16"}, "networkCidr", "is not within", id="elsewhere"),
        pytest.param({"podCidr": "10.64.0.0/14"}, "podCidr", "overlap", id="overlap"),
        pytest.param({"serviceCidr": "10.96.0.0/28"}, "serviceCidr", "/27 or larger", id="few-services"),
        pytest.param({"serviceCidr": "10.96.0.0/11"}, "serviceCidr", "/12 or smaller", id="many-services"),
        pytest.param({"upgradeChannel": "node-image"}, "upgradeChannel", "patch, stable, rapid", id="channel"),
        pytest.param({"upgradeChannel": "patch"}, "kubernetesVersion", "one like 1.35", id="patch-of-nothing"),
        pytest.param(
            {"kubernetesVersion": "1.35.1", "upgradeChannel": "stable"}, "kubernetesVersion", "write 1.35", id="pinned"
        ),
        pytest.param(
            {"kubernetesVersion": "1.35", "upgradeChannel": "stable"}, "kubernetesVersion", "remove it", id="moving"
        ),
        pytest.param({"kubernetesVersion": "newest"}, "kubernetesVersion", "like 1.35", id="version"),
        pytest.param({"tier": "Gold"}, "tier", "Free, Standard, Premium", id="tier"),
        pytest.param({"systemVmSize": 8}, "systemVmSize", "must be a string", id="system"),
    ],
)
def test_settings_are_refused(settings: Json, field: str, says: str) -> None:
    assert not _problems()
    (problem,) = _problems(settings)
    assert problem.startswith(f"spec.cluster.aks.{field}: ")
    assert says in problem


@pytest.mark.parametrize(
    ("pool", "at", "says"),
    [
        pytest.param({"name": "system"}, "", "belongs to the pool of the controllers", id="name"),
        pytest.param({"zones": ("swedencentral-1",)}, ".zones", 'write "1", "2" or "3"', id="zone"),
        pytest.param({"count": 1001}, "", "more than the 1000", id="too-many"),
        pytest.param({"count": None, "bounds": (0, 0)}, ".maxNodeCount", "nodeCount: 0", id="scales-to-nothing"),
        pytest.param({"count": None, "bounds": (0, 4)}, ".minNodeCount", "must be 1 or more", id="never-wakes"),
        pytest.param({"labels": (("kubernetes.azure.com/x", "a"),)}, "", "set by AKS alone", id="label-of-the-cloud"),
        pytest.param({"devices": 4}, "", "has 8 devices, but the class declares 4", id="devices"),
        pytest.param({"drivers": ("gpu.amd.com",)}, "", "has devices of gpu.nvidia.com", id="other-driver"),
    ],
)
def test_pools_are_refused(pool: Json, at: str, says: str) -> None:
    assert not _problems(None, _pool(), _pool(count=None))
    (problem,) = _problems(None, _pool(**pool))
    assert problem.startswith(f"spec.nodePools[0]{at}: ")
    assert says in problem


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        pytest.param({"vmSize": None}, "vmSize: is required", id="no-size"),
        pytest.param({"vmSize": "ND96"}, "write one like Standard_ND96isr_H200_v5", id="no-size-of-azure"),
        pytest.param({"osSku": "Windows"}, "one of Ubuntu", id="system"),
        pytest.param({"osSku": "AzureLinux3"}, "write Ubuntu", id="no-driver"),
        pytest.param({"gpuDriver": "535"}, "one of Install, None", id="driver"),
        pytest.param({"osDiskType": "Local"}, "one of Ephemeral, Managed", id="disk"),
        pytest.param({"osDiskType": "Ephemeral", "diskSizeGiB": 2000}, "has 1000 GiB for it", id="large-disk"),
        pytest.param({"priority": "Low"}, "one of Regular, Spot", id="priority"),
        pytest.param({"capacityReservationGroupId": "r"}, "write the whole of it", id="reserved"),
        pytest.param({"proximityPlacementGroupId": RESERVED}, "is no resource ID of that kind", id="other-kind"),
        pytest.param({"diskSizeGiB": "500"}, "must be an integer", id="unreadable"),
    ],
)
def test_recipes_are_refused_at_the_pool(recipe: Json, says: str) -> None:
    (problem,) = _problems(None, _pool(recipe))
    assert problem.startswith("spec.nodePools[0]: class class: spec.provisioning.aks.")
    assert says in problem


def test_pools_without_claims_may_be_empty() -> None:
    assert not _problems(None, _pool(count=None, bounds=(0, 4), drivers=()))


def test_a_driver_of_nvidia_is_not_installed_for_amd() -> None:
    amd = {"vmSize": "Standard_ND96isr_MI300X_v5"}
    assert not _problems(None, _pool(amd, drivers=("gpu.amd.com",)))
    (problem,) = _problems(None, _pool(amd | {"gpuDriver": "Install"}, drivers=("gpu.amd.com",)))
    assert "gpuDriver Install is a driver of NVIDIA; write None" in problem


def test_spot_capacity_is_tolerated_by_what_the_author_writes() -> None:
    (problem,) = _problems(None, _pool({"priority": "Spot"}))
    assert problem.startswith("spec.nodePools[0].taints: AKS taints spot capacity")
    assert "add {key: kubernetes.azure.com/scalesetpriority, value: spot, effect: NoSchedule}" in problem
    assert not _problems(None, _pool({"priority": "Spot"}, taints=(SPOT,)))
    both = {"priority": "Spot", "capacityReservationGroupId": RESERVED}
    (problem,) = _problems(None, _pool(both, taints=(SPOT,)))
    assert "Spot excludes capacityReservationGroupId" in problem


def test_nodes_that_are_close_together_are_in_one_zone() -> None:
    (problem,) = _problems(None, _pool({"proximityPlacementGroupId": CLOSE}, zones=("1", "2")))
    assert problem.startswith("spec.nodePools[0].zones: 2 zones are named")


def test_network_interfaces_are_devices_beside_those_of_the_size() -> None:
    assert not _problems(None, _pool(devices=16, drivers=("dra.net", "gpu.nvidia.com")))


def test_both_kinds_of_limits_are_refused() -> None:
    pool = _pool(count=None)
    pool.at.value["nodeCount"] = 2
    (problem,) = _problems(None, pool)
    assert problem.startswith("spec.nodePools[0].nodeCount: stands beside minNodeCount or maxNodeCount")


def test_claims_need_a_version_that_serves_them() -> None:
    (problem,) = _problems({"kubernetesVersion": "1.33"}, _pool())
    assert problem.startswith("spec.cluster.aks.kubernetesVersion: 1.33 does not serve resource.k8s.io/v1")
    assert not _problems({"kubernetesVersion": "1.33"}, _pool(drivers=()))


def test_all_nodes_have_addresses_during_an_upgrade() -> None:
    problems = _problems({"podCidr": "10.128.0.0/20", "nodeCidr": "10.64.0.0/28"}, _pool(count=12))
    assert [problem.partition(" has ")[0] for problem in problems] == [
        "spec.cluster.aks.podCidr: 10.128.0.0/20",
        "spec.cluster.aks.nodeCidr: 10.64.0.0/28",
    ]
    assert "16 nodes (256 each), but 17 may be there during an upgrade" in problems[0]
    assert "11 nodes, but 17 may be there" in problems[1], "Azure keeps five addresses of a subnet"


def test_the_name_of_an_adopted_cluster_fits() -> None:
    (problem,) = _problems(None, external_name="-prod")
    assert problem.startswith("spec.cluster.externalName: ")
    assert not _problems(None, external_name="Prod_7")


def test_everything_is_said_at_once_and_once() -> None:
    problems = _problems(
        {"location": "West Europe", "podCidr": "x", "subnetId": "nodes", "kubernetesVersion": "1.33"},
        _pool({"priority": "Spot"}, zones=("9",)),
        _pool({"osSku": "AzureLinux"}, name="system"),
    )
    assert len(problems) == len(set(problems))
    for says in ("West Europe", "podCidr", "SUBNET", "1.33", "9 is no zone", "scalesetpriority", "osSku", "system"):
        assert any(says in problem for problem in problems), says


@pytest.mark.parametrize("size", SIZES)
def test_each_size_of_the_table_is_consistent(size: str) -> None:
    facts = SIZES[size]
    assert not _problems(None, _pool({"vmSize": size}, devices=facts.devices, drivers=(facts.driver,)))


@pytest.mark.parametrize(
    ("message", "says"),
    [
        pytest.param(
            "creating Kubernetes Cluster: ErrCode_InsufficientVCPUQuota: Insufficient vcpu quota requested 96, "
            "remaining 0 for family standardNDSH100v5Family for region eastus. Surge nodes would also consume vcpu "
            "quota.",
            "ask Azure for more quota",
            id="quota-of-a-family",
        ),
        pytest.param(
            '"code": "QuotaExceeded", "message": "Operation could not be completed as it results in exceeding approved '
            'Total Regional Cores quota. Location: northeurope, Current Limit: 100"',
            "ask Azure for more quota",
            id="quota-of-a-location",
        ),
        pytest.param(
            "SkuNotAvailable: The requested VM size for resource 'Following SKUs have failed for Capacity "
            "Restrictions: Standard_ND96isr_H100_v5' is currently not available in location 'eastus'.",
            "az vm list-skus",
            id="size-that-is-not-sold",
        ),
        pytest.param(
            "OverconstrainedZonalAllocationRequest: Allocation failed. VM(s) with the following constraints cannot be "
            "allocated, because the condition is too restrictive.",
            "name another zone",
            id="no-stock-in-a-zone",
        ),
        pytest.param('Code="AllocationFailed" Message="Allocation failed."', "or wait", id="no-stock"),
        pytest.param(
            "LinkedAuthorizationFailed: The client has permission to perform action on scope; however, it does not "
            "have permission to perform action 'Microsoft.Network/virtualNetworks/subnets/join/action' on the linked "
            "scope(s)",
            "Network Contributor on the subnet",
            id="linked",
        ),
        pytest.param(
            "MissingSubscriptionRegistration: The subscription is not registered to use namespace "
            "'Microsoft.ContainerService'.",
            "az provider register",
            id="provider-that-is-off",
        ),
        pytest.param(
            "AuthorizationFailed: The client '1' with object id '2' does not have authorization to perform action "
            "'Microsoft.Authorization/roleAssignments/write' over scope '/subscriptions/s'",
            "Role Based Access Control Administrator",
            id="permission",
        ),
        pytest.param(
            "`temporary_name_for_rotation` must be specified when updating any of the following properties",
            "another name",
            id="replacement",
        ),
        pytest.param("K8sVersionNotSupported: Managed cluster is on version 1.29", "az aks get-versions", id="version"),
        pytest.param(
            "InsufficientSubnetSize: Pre-allocated IPs 93 exceeds IPs available 11", "too few addresses", id="addresses"
        ),
        pytest.param("ServiceCidrOverlapExistingSubnetsCidr: overlaps", "write other podCidr", id="overlap"),
        pytest.param("InUseSubnetCannotBeDeleted: Subnet nodes is in use by", "load balancer", id="left-by-others"),
        pytest.param(
            "The virtual machine size Standard_NC24ads_A100_v4 has a cache size of 274877906944 bytes, but the OS disk "
            "requires 549755813888 bytes.",
            "osDiskType: Managed",
            id="ephemeral-disk",
        ),
        pytest.param("OperationNotAllowed: Another operation (Updating) is in progress", "tried again", id="busy"),
        pytest.param(
            "VMExtensionProvisioningError: VM has reported a failure: exit status=50", "firewall", id="egress"
        ),
        pytest.param("the moon is full", "", id="unknown"),
    ],
)
def test_errors_of_the_cloud_are_explained(message: str, says: str) -> None:
    advice = aks.advice(message)
    assert says in advice
    assert bool(advice) is bool(says)
